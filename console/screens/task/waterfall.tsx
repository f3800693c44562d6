import { durationText } from "../../parts/duration.ts";
import type { Bar } from "./read.ts";

const LOOKS = ["bg-accent", "bg-busy", "bg-edge"] as const;
const INDENTS = ["", "pl-3 text-soft", "pl-6 text-soft"] as const;

/** Where a task's time went: every stretch in its place, beside its length in words. */
export function Waterfall({ bars }: { readonly bars: readonly Bar[] }) {
  const wholeMs = Math.max(1, ...bars.map(({ fromMs, lengthMs }) => fromMs + lengthMs));
  const percent = (ms: number) => `${(ms / wholeMs) * 100}%`;
  return (
    <ol class="flex flex-col gap-1 rounded-xl border border-line bg-card p-3 text-sm">
      {bars.map(({ name, depth, fromMs, lengthMs }) => (
        <li
          key={`${depth} ${name} ${fromMs}`}
          class="grid grid-cols-[7.5rem_minmax(0,1fr)_5rem] items-center gap-2 sm:grid-cols-[10rem_minmax(0,1fr)_6rem]"
        >
          <span class={`truncate ${INDENTS[depth]}`}>{name}</span>
          <span class="relative h-3.5 overflow-hidden rounded-sm bg-sunk" aria-hidden="true">
            <span
              class={`absolute inset-y-0 min-w-[2px] rounded-sm ${LOOKS[depth]}`}
              style={{ left: percent(fromMs), width: percent(lengthMs) }}
            />
          </span>
          <span class="text-right tabular-nums">{durationText(lengthMs)}</span>
        </li>
      ))}
    </ol>
  );
}
