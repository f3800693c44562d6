import { readFileSync } from "node:fs";
import { cpus } from "node:os";

const TICK_MS = 10;
/** Above this share the figures say as much about the neighbours as about the service. */
const NOTICEABLE = 0.05;

/** Returns a function that tells which share of all processors processes other than ours have used since. */
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

export function describeContention(share: number | undefined): string {
  if (share === undefined) return "what other processes used meanwhile is not known here";
  const text = `other processes used ${Math.round(share * 100)} % of the processors meanwhile`;
  return share > NOTICEABLE ? `${text}: repeat this on a quiet machine` : text;
}

/** Time not idle of the whole machine, and of this process with the children that have ended. */
function readTicks(): { busy: number; own: number } | undefined {
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
    return { busy: sum([user, nice, system, irq, softirq, steal]), own: sum(own) };
  } catch {
    // Not Linux.
    return undefined;
  }
}

function sum(values: readonly (number | undefined)[]): number {
  return values.reduce<number>((total, value) => total + (value ?? 0), 0);
}
