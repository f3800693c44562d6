import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

/** Several controls under one name. */
export function Group({
  label,
  hint,
  problem,
  children,
}: {
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly problem?: string | undefined;
  readonly children: ComponentChildren;
}) {
  const id = useId();
  const about = hint === undefined && problem === undefined ? undefined : `${id}-about`;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out as narrow as its place
    <div role="group" aria-labelledby={id} aria-describedby={about} class="flex min-w-0 flex-col gap-1">
      <span id={id} class="text-sm font-medium">
        {label}
      </span>
      {children}
      {about !== undefined && (
        <p id={about} class={`text-sm break-words ${problem === undefined ? "text-soft" : "text-bad"}`}>
          {problem ?? hint}
        </p>
      )}
    </div>
  );
}
