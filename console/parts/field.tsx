import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";

const BOX =
  "min-h-9 w-full rounded-md border border-edge bg-card px-2.5 py-1.5 text-ink placeholder:text-soft aria-invalid:border-bad";

interface Labelled {
  readonly label: string;
  /** What the reader should know before typing. */
  readonly hint?: ComponentChildren;
  /** What is wrong with what was typed. */
  readonly problem?: string | undefined;
  /** For filters in a row, whose place says what they are. The label is still there for screen readers. */
  readonly hidesLabel?: boolean;
}

/** A label, a control and what is said about it, tied together for screen readers. */
export function Labelled({
  label,
  hint,
  problem,
  hidesLabel = false,
  children,
}: Labelled & {
  readonly children: (attributes: {
    id: string;
    "aria-describedby": string | undefined;
    "aria-invalid": boolean;
  }) => ComponentChildren;
}) {
  const id = useId();
  const about = hint === undefined && problem === undefined ? undefined : `${id}-about`;
  return (
    <div class="flex min-w-0 flex-col gap-1">
      <label for={id} class={hidesLabel ? "sr-only" : "text-sm font-medium"}>
        {label}
      </label>
      {children({ id, "aria-describedby": about, "aria-invalid": problem !== undefined })}
      {about !== undefined && (
        <p id={about} class={`text-sm ${problem === undefined ? "text-soft" : "text-bad"}`}>
          {problem ?? hint}
        </p>
      )}
    </div>
  );
}

type Line = Labelled & {
  readonly value: string;
  readonly type?: "text" | "password" | "search" | "number" | "url" | "date" | "datetime-local";
  readonly placeholder?: string;
  readonly autocomplete?: "on" | "off";
  readonly spellcheck?: boolean;
  /** The key `/` leads here. */
  readonly isFilter?: boolean;
  /** At each change. */
  readonly onText?: (text: string) => void;
  /** When the reader is done with it: by Enter, or by going elsewhere. */
  readonly onDone?: (text: string) => void;
};

/** A line of text. */
export function Field({
  onText,
  onDone,
  isFilter,
  value,
  type,
  placeholder,
  autocomplete,
  spellcheck,
  ...about
}: Line) {
  // Without it, whatever draws the screen anew would take away what is being typed.
  const [draft, setDraft] = useState<string>();
  const given = Object.fromEntries(
    Object.entries({ type, placeholder, autocomplete, spellcheck, "data-filter": isFilter }).filter(
      ([, each]) => each !== undefined,
    ),
  );
  return (
    <Labelled {...about}>
      {(attributes) => (
        <input
          class={BOX}
          value={draft ?? value}
          onInput={({ currentTarget }) => {
            if (onText === undefined) setDraft(currentTarget.value);
            else onText(currentTarget.value);
          }}
          onChange={({ currentTarget }) => {
            setDraft(undefined);
            onDone?.(currentTarget.value);
          }}
          {...attributes}
          {...given}
        />
      )}
    </Labelled>
  );
}

type Choice = Labelled & {
  readonly value: string;
  /** Values with what they are called. */
  readonly choices: readonly (readonly [value: string, name: string])[];
  readonly onChoice: (value: string) => void;
};

/** One of a few. */
export function Choice({ value, choices, onChoice, ...about }: Choice) {
  return (
    <Labelled {...about}>
      {(attributes) => (
        <select
          class={BOX}
          value={value}
          onChange={({ currentTarget }) => onChoice(currentTarget.value)}
          {...attributes}
        >
          {choices.map(([each, name]) => (
            <option key={each} value={each}>
              {name}
            </option>
          ))}
        </select>
      )}
    </Labelled>
  );
}
