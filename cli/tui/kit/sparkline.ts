const LEVELS = "▁▂▃▄▅▆▇█";

/** The last `width` values as a line of bars, the highest value as the highest bar. Nothing is the lowest bar. */
export function sparkline(values: readonly number[], width: number): string {
  const shown = values.slice(-Math.max(0, width));
  const highest = Math.max(0, ...shown);
  const bars = shown.map((value) => {
    const level = highest === 0 || value <= 0 ? 0 : Math.ceil((value / highest) * (LEVELS.length - 1));
    return LEVELS[level] ?? "";
  });
  return bars.join("").padStart(Math.max(0, width), LEVELS[0]);
}
