import { useRef } from "preact/hooks";
import type { Check } from "./check.ts";
import { CodeText } from "./code-text.tsx";

interface Props {
  readonly label: string;
  readonly text: string;
  readonly check: Check;
  /** It is being saved: what was typed meanwhile would be in no file. */
  readonly isFixed: boolean;
  readonly onText: (text: string) => void;
  /** Ctrl or Cmd with S. */
  readonly onSave: () => void;
}

/** A text of YAML with the numbers of its lines, and what the checker finds, beside it and at its lines. */
export function Editor({ label, text, check, isFixed, onText, onSave }: Props) {
  const area = useRef<HTMLTextAreaElement>(null);
  const findings = check.found?.findings ?? [];
  const go = (line: number, column: number) => {
    const place = area.current;
    if (place === null) return;
    const start = placeOf(place.value, line, column);
    place.focus();
    place.setSelectionRange(start, start);
    place.scrollTop = Math.max(0, (line - 4) * Number.parseFloat(getComputedStyle(place).lineHeight));
  };
  return (
    <div class="flex min-w-0 flex-col gap-2">
      <CodeText
        area={area}
        label={label}
        text={text}
        marked={findings.map(({ line }) => line)}
        isWrong={check.found !== undefined && check.found.model === null}
        isFixed={isFixed}
        describedBy="editor-summary"
        onText={onText}
        onSave={onSave}
      />
      <div class="flex min-w-0 flex-col gap-1">
        <p id="editor-summary" role="status" class={findings.length > 0 ? "font-medium" : "text-soft"}>
          {summaryOf(check)}
        </p>
        {findings.length > 0 && (
          <ol class="flex max-h-64 flex-col overflow-y-auto rounded-lg border border-line bg-card">
            {findings.map(({ line, column, message }, i) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: two may say the same of one place
              <li key={i} class="border-b border-line last:border-0">
                <button
                  type="button"
                  class="grid w-full grid-cols-[5.5rem_minmax(0,1fr)] gap-2 px-3 py-1.5 text-left hover:bg-sunk"
                  onClick={() => go(line, column)}
                >
                  <span class="whitespace-nowrap text-accent tabular-nums">
                    Line {line}:{column}
                  </span>
                  <span class="wrap-anywhere">{message}</span>
                </button>
              </li>
            ))}
          </ol>
        )}
      </div>
    </div>
  );
}

/** How many characters are before a place of a text. @param line and column from 1 */
export function placeOf(text: string, line: number, column: number): number {
  const before = text.split("\n").slice(0, line - 1);
  return before.reduce((sum, each) => sum + each.length + 1, 0) + column - 1;
}

function summaryOf({ found, isChecking }: Check): string {
  if (found === undefined) return isChecking ? "Checking…" : "Nothing to check yet.";
  const { model, findings } = found;
  const count = findings.length === 1 ? "1 finding" : `${findings.length} findings`;
  if (model === null) return `It cannot be used yet: ${count}.`;
  return findings.length === 0
    ? `It can be used as ${model}.`
    : `It can be used as ${model}; ${count} to look at.`;
}
