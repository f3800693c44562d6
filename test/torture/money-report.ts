import { formatAmount, type Micros, sumMicros, ZERO } from "../../src/domain/money/money.ts";
import { printVerdict } from "./verdict.ts";
import type { Tally } from "./verify.ts";

/** What one round, or all of them, came to. */
export interface Spent {
  readonly rounds: number;
  readonly kills: number;
  readonly tally: Tally;
  /** Put on the account, less what was taken off it. */
  readonly credited: Micros;
  readonly captured: Micros;
  readonly refunded: Micros;
  /** What the operator did, by name. */
  readonly moves: Readonly<Record<string, number>>;
  readonly audits: number;
  readonly elapsedMs: number;
}

const NO_TASKS: Tally = {
  accepted: 0,
  completed: 0,
  failed: 0,
  cancelled: 0,
  refused: 0,
  lost: 0,
  replayed: 0,
};
export const NOTHING_SPENT: Spent = {
  rounds: 0,
  kills: 0,
  tally: NO_TASKS,
  credited: ZERO,
  captured: ZERO,
  refunded: ZERO,
  moves: {},
  audits: 0,
  elapsedMs: 0,
};

export function addSpent(one: Spent, other: Spent): Spent {
  return {
    rounds: one.rounds + other.rounds,
    kills: one.kills + other.kills,
    tally: addCounts<keyof Tally>(one.tally, other.tally),
    credited: sumMicros([one.credited, other.credited]),
    captured: sumMicros([one.captured, other.captured]),
    refunded: sumMicros([one.refunded, other.refunded]),
    moves: addCounts<string>(one.moves, other.moves),
    audits: one.audits + other.audits,
    elapsedMs: one.elapsedMs + other.elapsedMs,
  };
}

/** One round in a line, with the seed that repeats it. */
export function roundLine(round: number, seed: number, spent: Spent, differences: number): string {
  const { tally, kills, captured, elapsedMs } = spent;
  const tasks = `${tally.completed} completed, ${tally.failed} failed, ${tally.cancelled} cancelled, ${tally.refused} refused`;
  return `  round ${round}, seed ${seed}: ${kills} kills, ${tasks}, ${formatAmount(captured)} captured, ${differences} differences, ${seconds(elapsedMs)}\n`;
}

/** The report for people, and the verdict as its last line. */
export function printSpent(spent: Spent, findings: readonly string[], total: number): void {
  const { tally, credited, captured, refunded } = spent;
  const lines = [
    `rounds    ${spent.rounds}, with ${spent.kills} kills and ${spent.audits} audits`,
    `creates   ${tally.accepted} accepted (${tally.replayed} of them learnt by asking again), ${tally.refused} refused, ${tally.lost} unanswered without a key`,
    `tasks     ${tally.completed} completed, ${tally.failed} failed, ${tally.cancelled} cancelled`,
    `money     ${formatAmount(credited)} credited, ${formatAmount(captured)} captured, ${formatAmount(refunded)} refunded`,
    `operator  ${list(spent.moves)}`,
    `took      ${seconds(spent.elapsedMs)}`,
  ];
  printVerdict(lines, findings, total);
}

function addCounts<Name extends string>(
  one: Readonly<Record<Name, number>>,
  other: Readonly<Record<Name, number>>,
): Record<Name, number> {
  const names = new Set([...Object.keys(one), ...Object.keys(other)]) as Set<Name>;
  // Every name comes from one of the two.
  return Object.fromEntries(
    [...names].map((name) => [name, (one[name] ?? 0) + (other[name] ?? 0)]),
  ) as Record<Name, number>;
}

function list(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${count} ${name}`)
    .join(", ");
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
