import type { RefObject } from "preact";
import { useRef } from "preact/hooks";

/** All lines have one height (`leading-5`), so that numbers and marks stand beside them, and one space above them (`py-2`). */
const LINE_REM = 1.25;
const TOP_REM = 0.5;

interface Props {
  readonly area: RefObject<HTMLTextAreaElement | null>;
  readonly label: string;
  readonly text: string;
  /** Numbers of lines, from 1. */
  readonly marked: readonly number[];
  readonly isWrong: boolean;
  /** Cannot be changed at the moment. */
  readonly isFixed: boolean;
  readonly describedBy: string;
  readonly onText: (text: string) => void;
  readonly onSave: () => void;
}

/** A text area with numbered lines. Tab leaves it, as everywhere; Enter keeps the indentation. */
export function CodeText({ area, label, text, marked, isWrong, isFixed, describedBy, ...on }: Props) {
  const beside = useRef<HTMLDivElement>(null);
  const count = text.split("\n").length;
  const lines = [...new Set(marked)].filter((line) => line <= count);
  return (
    <div
      class={`grid h-[min(70dvh,44rem)] min-h-64 grid-cols-[max-content_minmax(0,1fr)] overflow-hidden rounded-lg border bg-card font-mono text-[0.8125rem] focus-within:outline-2 focus-within:outline-offset-2 focus-within:outline-accent ${isWrong ? "border-bad" : "border-edge"}`}
    >
      <div
        aria-hidden="true"
        class="overflow-hidden border-r border-line bg-sunk text-right text-soft select-none"
      >
        <div ref={beside} class="relative">
          <pre class="px-2.5 py-2 leading-5 font-[inherit]">{numbersTo(count)}</pre>
          {lines.map((line) => (
            <span
              key={line}
              data-marked={line}
              class="absolute inset-x-0 border-l-4 border-bad bg-card px-2.5 leading-5 font-semibold text-bad"
              style={{ top: `${TOP_REM + (line - 1) * LINE_REM}rem` }}
            >
              {line}
            </span>
          ))}
        </div>
      </div>
      <textarea
        ref={area}
        aria-label={label}
        aria-invalid={isWrong}
        aria-describedby={describedBy}
        class="resize-none overflow-auto bg-card px-3 py-2 leading-5 whitespace-pre text-ink outline-none"
        wrap="off"
        readOnly={isFixed}
        spellcheck={false}
        autocapitalize="off"
        autocomplete="off"
        value={text}
        onInput={({ currentTarget }) => on.onText(currentTarget.value)}
        onScroll={({ currentTarget }) => {
          if (beside.current !== null)
            beside.current.style.transform = `translateY(${-currentTarget.scrollTop}px)`;
        }}
        onKeyDown={(event) => react(event, on.onSave)}
      />
    </div>
  );
}

function numbersTo(count: number): string {
  return Array.from({ length: count }, (_, i) => i + 1).join("\n");
}

function react(
  event: KeyboardEvent & { readonly currentTarget: HTMLTextAreaElement },
  save: () => void,
): void {
  if (event.isComposing) return;
  if (event.key === "s" && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey) {
    event.preventDefault();
    save();
    return;
  }
  if (event.key !== "Enter" || event.currentTarget.readOnly || event.ctrlKey || event.metaKey || event.altKey)
    return;
  const { value, selectionStart } = event.currentTarget;
  const line = value.slice(value.lastIndexOf("\n", selectionStart - 1) + 1, selectionStart);
  const [indentation = ""] = /^[ ]*/.exec(line) ?? [];
  if (indentation === "") return;
  event.preventDefault();
  // The only way to insert what the reader can undo.
  document.execCommand("insertText", false, `\n${indentation}`);
}
