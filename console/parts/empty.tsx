import type { ComponentChildren } from "preact";

/** In place of what is not there yet: says what would be here, and how it comes. */
export function Empty({
  title,
  children,
}: {
  readonly title: string;
  readonly children?: ComponentChildren;
}) {
  return (
    <div class="rounded-xl border border-dashed border-line px-6 py-10 text-center">
      <p class="text-lg font-semibold">{title}</p>
      {children !== undefined && <div class="mx-auto mt-2 max-w-prose text-soft">{children}</div>}
    </div>
  );
}
