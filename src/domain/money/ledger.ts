import type { TaskId } from "../ids.ts";
import { type Micros, toMicros, ZERO } from "./money.ts";

/** The reason in an entry that replaces the entries of several deleted tasks. */
export const SUMMED_UP = "deleted tasks, summed up";

export type LedgerKind = "credit" | "hold" | "capture" | "release" | "refund" | "adjustment";

/**
 * One append-only row. Rows of deleted tasks may be merged into one row for each day and kind, with the same sums. The sum of
 * `balanceDelta` is the balance; the sum of `heldDelta` is what is held. A task has at most one row of each kind, so nothing
 * can settle it twice.
 */
export interface LedgerEntry {
  readonly kind: LedgerKind;
  readonly balanceDelta: Micros;
  readonly heldDelta: Micros;
  readonly taskId?: TaskId | undefined;
  /** Why, for people: `invoice 12`. */
  readonly reason: string;
  /** Who: a key's or a token's id, `operator` on the data folder, or `system`. */
  readonly actor: string;
}

/** The actor of changes that the service makes by itself. */
export const SYSTEM = "system";

export function holdEntry(taskId: TaskId, amount: Micros, actor: string): LedgerEntry {
  return { kind: "hold", balanceDelta: ZERO, heldDelta: amount, taskId, reason: "task accepted", actor };
}

/** Adds money to an account; a negative amount removes it. */
export function creditEntry(amount: Micros, reason: string, actor: string): LedgerEntry {
  return { kind: amount < 0 ? "adjustment" : "credit", balanceDelta: amount, heldDelta: ZERO, reason, actor };
}

/** Returns money for a task that was charged. A task is refunded at most once. */
export function refundEntry(taskId: TaskId, amount: Micros, reason: string, actor: string): LedgerEntry {
  return { kind: "refund", balanceDelta: amount, heldDelta: ZERO, taskId, reason, actor };
}

/** Captures the charge, at most the hold, and releases the rest, so a customer never pays more than the quote. */
export function settlementEntries(
  taskId: TaskId,
  held: Micros,
  charge: Micros,
  reason: string,
): LedgerEntry[] {
  const captured = Math.min(Math.max(charge, 0), held);
  const off = toMicros(-captured);
  const common = { taskId, reason, actor: SYSTEM };
  const entries: LedgerEntry[] = [
    { kind: "capture", balanceDelta: off, heldDelta: off, ...common },
    { kind: "release", balanceDelta: ZERO, heldDelta: toMicros(captured - held), ...common },
  ];
  return entries.filter(({ heldDelta }) => heldDelta < 0);
}
