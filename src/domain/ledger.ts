import type { TaskId } from "./ids.ts";
import { type Micros, toMicros, ZERO } from "./money.ts";

export type LedgerKind = "credit" | "hold" | "capture" | "release" | "refund" | "adjustment";

/**
 * One append-only row. A balance is the sum of `balanceDelta`, what is held the sum of `heldDelta`.
 * At most one row of each kind exists per task, so that settling twice is impossible.
 */
export interface LedgerEntry {
  readonly kind: LedgerKind;
  readonly balanceDelta: Micros;
  readonly heldDelta: Micros;
  readonly taskId?: TaskId | undefined;
  /** Who and why, for people: `key_…`, `operator: invoice 12`. */
  readonly reason: string;
}

export function holdEntry(taskId: TaskId, amount: Micros): LedgerEntry {
  return { kind: "hold", balanceDelta: ZERO, heldDelta: amount, taskId, reason: "task accepted" };
}

export function creditEntry(amount: Micros, reason: string): LedgerEntry {
  return { kind: "credit", balanceDelta: amount, heldDelta: ZERO, reason };
}

/**
 * The entries that resolve a hold: what is charged is captured, what is left is returned.
 *
 * A charge above the hold is cut to it; a customer never pays more than was promised.
 */
export function settlementEntries(
  taskId: TaskId,
  held: Micros,
  charge: Micros,
  reason: string,
): LedgerEntry[] {
  const captured = toMicros(Math.min(Math.max(charge, 0), held));
  const released = toMicros(held - captured);
  const entries: LedgerEntry[] = [];
  if (captured > 0) {
    entries.push({
      kind: "capture",
      balanceDelta: toMicros(-captured),
      heldDelta: toMicros(-captured),
      taskId,
      reason,
    });
  }
  if (released > 0) {
    entries.push({ kind: "release", balanceDelta: ZERO, heldDelta: toMicros(-released), taskId, reason });
  }
  return entries;
}
