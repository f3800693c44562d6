import { readFileSync } from "node:fs";
import { cpus } from "node:os";
import { cpuMs } from "./process.ts";

const TICK_MS = 10;
/** Above this share the figures say as much about the neighbours as about the service. */
const NOTICEABLE = 0.05;

export const isContended = (share: number | undefined): boolean => share !== undefined && share > NOTICEABLE;

/**
 * Returns a function that tells which share of all processors processes other than ours have used since. Ours are this one and its
 * descendants, as far as `adoptOrphans` keeps them.
 */
export function watchContention(): () => number | undefined {
  const before = readTicks();
  const startedAt = performance.now();
  return () => {
    const after = readTicks();
    if (before === undefined || after === undefined) return undefined;
    const others = (after.busy - before.busy - (after.own - before.own)) * TICK_MS;
    return Math.max(0, others / (performance.now() - startedAt) / cpus().length);
  };
}

/** Time not idle of the whole machine, and of our own processes. */
function readTicks(): { busy: number; own: number } | undefined {
  try {
    const [, user, nice, system, , , irq, softirq, steal] = readFileSync("/proc/stat", "utf8")
      .split(/\s+/)
      .map(Number);
    const ownMs = cpuMs(process.pid);
    if (ownMs === undefined) return undefined;
    return { busy: sum([user, nice, system, irq, softirq, steal]), own: ownMs / TICK_MS };
  } catch {
    // Not Linux.
    return undefined;
  }
}

function sum(values: readonly (number | undefined)[]): number {
  return values.reduce<number>((total, value) => total + (value ?? 0), 0);
}
