import { computed, signal } from "@preact/signals";
import { nowMs } from "../api/connection.ts";

const full = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const ago = new Intl.RelativeTimeFormat(undefined, { numeric: "auto", style: "short" });
const STEPS = [
  ["second", 60],
  ["minute", 60],
  ["hour", 24],
  ["day", 30],
  ["month", 12],
  ["year", Number.POSITIVE_INFINITY],
] as const;

const STEP_MS = 10_000;

/** In steps that all times on the page share. */
const ticks = signal(0);
setInterval(() => {
  if (!document.hidden) ticks.value += 1;
}, STEP_MS);

const now = computed(() => {
  ticks.value;
  return nowMs();
});

/** A moment as the reader's country writes it. @param at Unix seconds, or an ISO time */
export function timeText(at: number | string): string {
  return full.format(dateOf(at));
}

function dateOf(at: number | string): Date {
  return new Date(typeof at === "number" ? at * 1000 : at);
}

function agoText(at: Date, present: number): string {
  let amount = (at.getTime() - present) / 1000;
  if (Math.abs(amount) < 10) return ago.format(0, "second");
  for (const [unit, size] of STEPS) {
    if (Math.abs(amount) < size) return ago.format(Math.round(amount), unit);
    amount /= size;
  }
  return full.format(at);
}

/** How long ago, with the exact time as its title. */
export function Time({ at }: { readonly at: number | string | null | undefined }) {
  if (at === null || at === undefined) return <span class="text-soft">–</span>;
  const date = dateOf(at);
  return (
    <time dateTime={date.toISOString()} title={full.format(date)} class="whitespace-nowrap">
      {agoText(date, now.value)}
    </time>
  );
}
