import { readFileSync } from "node:fs";
import { cpus } from "node:os";
import { cpuMs } from "./process.ts";

const TICK_MS = 10;
/** Above this share the figures say as much about the neighbours as about the service. */
const NOTICEABLE = 0.05;

export const isContended = (share: number | undefined): boolean => share !== undefined && share > NOTICEABLE;

/**
 * Returns a function that tells which share of all processors processes other than ours have used since. Ours are this one,
 * its children that have ended, and `child`.
 */
export function watchContention(child: number): () => number | undefined {
  const before = readTicks(child);
  const startedAt = performance.now();
  return () => {
    const after = readTicks(child);
    if (before === undefined || after === undefined) return undefined;
    const others = (after.busy - before.busy - (after.own - before.own)) * TICK_MS;
    return Math.max(0, others / (performance.now() - startedAt) / cpus().length);
  };
}

/** Time not idle of the whole machine, and of our own processes. */
function readTicks(child: number): { busy: number; own: number } | undefined {
  try {
    const [, user, nice, system, , , irq, softirq, steal] = readFileSync("/proc/stat", "utf8")
      .split(/\s+/)
      .map(Number);
    const stat = readFileSync("/proc/self/stat", "utf8");
    const own = stat
      .slice(stat.lastIndexOf(")") + 2)
      .split(" ")
      .slice(11, 15)
      .map(Number);
    return {
      busy: sum([user, nice, system, irq, softirq, steal]),
      own: sum(own) + (cpuMs(child) ?? 0) / TICK_MS,
    };
  } catch {
    // Not Linux.
    return undefined;
  }
}

function sum(values: readonly (number | undefined)[]): number {
  return values.reduce<number>((total, value) => total + (value ?? 0), 0);
}
