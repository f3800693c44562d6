import type { ComponentChildren } from "preact";
import { Labelled } from "./field.tsx";

interface Props {
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly problem?: string | undefined;
  readonly value: string;
  readonly rows?: number;
  readonly placeholder?: string | undefined;
  readonly onText: (text: string) => void;
}

/** Several lines of text. */
export function TextArea({ value, rows = 3, placeholder, onText, ...about }: Props) {
  return (
    <Labelled {...about}>
      {(attributes) => (
        <textarea
          class="w-full rounded-md border border-edge bg-card px-2.5 py-1.5 text-ink placeholder:text-soft aria-invalid:border-bad"
          rows={rows}
          spellcheck={false}
          value={value}
          {...(placeholder === undefined ? {} : { placeholder })}
          onInput={({ currentTarget }) => onText(currentTarget.value)}
          {...attributes}
        />
      )}
    </Labelled>
  );
}
