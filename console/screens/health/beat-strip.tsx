import { timeText } from "../../parts/time.tsx";
import { type Beat, beatsOf, beatText, summaryOf } from "./beats.ts";
import type { History } from "./series.ts";

/** Heights tell them apart, too. */
const LOOKS: Readonly<Record<Beat["worst"], string>> = {
  faults: "h-8 bg-bad",
  failures: "h-6 bg-warn",
  fine: "h-4 bg-good",
  idle: "h-1.5 bg-edge",
};

/** One bar for each stretch of time, the latest on the right: when something went wrong is seen at a glance. */
export function BeatStrip({ history }: { readonly history: History }) {
  const beats = beatsOf(history);
  const [first, last] = [beats[0], beats.at(-1)];
  if (first === undefined || last === undefined) return null;
  const text = summaryOf(beats);
  return (
    <div class="flex min-w-0 flex-col gap-2 rounded-xl border border-line bg-card p-4">
      <div
        role="img"
        aria-label={`From ${timeText(first.since)} to ${timeText(last.until)}. ${text}`}
        class="flex h-8 max-w-3xl items-end gap-0.5"
      >
        {beats.map((beat) => (
          <span
            key={beat.until}
            title={`${timeText(beat.until)}: ${beatText(beat)}`}
            class={`max-w-3 min-w-0 grow rounded-xs ${LOOKS[beat.worst]}`}
          />
        ))}
      </div>
      <p class="text-sm text-soft">{text}</p>
    </div>
  );
}
