import { usage } from "../failure.ts";

const UNIT_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** `90`, `90s`, `1m30s`, `10m`, `2h`: milliseconds. A bare number is seconds. @throws Failure for anything else */
export function parseDuration(text: string): number {
  if (/^\d+(\.\d+)?$/.test(text)) return Math.round(Number(text) * 1000);
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)];
  if (parts.length === 0 || parts.map(([whole]) => whole).join("") !== text) {
    throw usage(`"${text.slice(0, 80)}" is not a duration; write 30s, 10m or 1h30m.`);
  }
  // Safe: the pattern matches these units only.
  return Math.round(
    parts.reduce((sum, [, n, unit]) => sum + Number(n) * UNIT_MS[unit as keyof typeof UNIT_MS], 0),
  );
}

const PARTS = [
  ["d", 86_400],
  ["h", 3_600],
  ["m", 60],
  ["s", 1],
] as const;

/** For people: `340 ms`, `4.2 s`, `3 m 20 s`, `30 d`. */
export function formatDuration(ms: number): string {
  if (Math.round(ms) < 1000) return `${Math.round(ms)} ms`;
  const tenths = Math.round(ms / 100) / 10;
  if (tenths < 60) return `${tenths} s`;
  let left = Math.round(ms / 1000);
  const parts = PARTS.map(([unit, size]): [count: number, unit: string] => {
    const count = Math.floor(left / size);
    left -= count * size;
    return [count, unit];
  });
  return parts
    .filter(([count]) => count > 0)
    .map((part) => part.join(" "))
    .join(" ");
}

/** Formats a time to the second, in UTC. */
export function formatTime(epochMs: number): string {
  return new Date(epochMs)
    .toISOString()
    .replace("T", " ")
    .replace(/\.\d+Z$/, "Z");
}

const LARGEST = ["TB", 1e12] as const;
const UNITS = [["MB", 1e6], ["GB", 1e9], LARGEST] as const;

/** For people: `512 B`, `212 KB`, `1.4 MB`, `82.1 GB`. */
export function formatSize(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${Math.round(bytes / 1000)} KB`;
  const [unit, size] = UNITS.find(([, each]) => bytes < each * 1000) ?? LARGEST;
  return `${Number((bytes / size).toFixed(1))} ${unit}`;
}
