import type { Point } from "./report.ts";

const [WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT] = [820, 420, 70, 46, 36, 220];
const COLOURS = ["#2563eb", "#0891b2", "#d97706", "#dc2626", "#16a34a", "#7c3aed", "#db2777", "#475569"];

/** Draws how many tasks a second end for how many that are offered, a line for each series that has several rates. */
export function plot(all: readonly Point[]): string {
  const lines = [...Map.groupBy(all, ({ series }) => series)].filter(
    ([, points]) => new Set(points.map(({ offered }) => offered)).size > 1,
  );
  const most = Math.max(...all.map(({ offered }) => offered));
  const x = (offered: number) => LEFT + (offered / most) * (WIDTH - LEFT - RIGHT);
  const y = (ended: number) => HEIGHT - BOTTOM - (ended / most) * (HEIGHT - BOTTOM - TOP);
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((share) => share * most);
  const grid = ticks.flatMap((tick) => [
    `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y(tick)}" y2="${y(tick)}" stroke="#ddd"/>`,
    `<text x="${LEFT - 8}" y="${y(tick) + 4}" text-anchor="end">${tick.toLocaleString("en-US")}</text>`,
    `<text x="${x(tick)}" y="${HEIGHT - BOTTOM + 18}" text-anchor="middle">${tick.toLocaleString("en-US")}</text>`,
  ]);
  const drawn = lines.flatMap(([name, points], i) => {
    const colour = COLOURS[i % COLOURS.length];
    const path = points.map(
      ({ offered, result }) => `${x(offered).toFixed(1)},${y(result.endedPerSecond).toFixed(1)}`,
    );
    const at = TOP + 16 + i * 22;
    return [
      `<polyline points="${path.join(" ")}" fill="none" stroke="${colour}" stroke-width="2"/>`,
      `<line x1="${WIDTH - RIGHT + 14}" x2="${WIDTH - RIGHT + 36}" y1="${at - 4}" y2="${at - 4}" stroke="${colour}" stroke-width="2"/>`,
      `<text x="${WIDTH - RIGHT + 42}" y="${at}">${name}</text>`,
    ];
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12" fill="#333">
<title>Tasks that end, by tasks that are offered</title>
<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>
<text x="${LEFT}" y="20">Tasks that end a second, by tasks that are offered (simulated; 100 nodes unless said otherwise)</text>
${grid.join("\n")}
${drawn.join("\n")}
<text x="${WIDTH - RIGHT}" y="${HEIGHT - 8}" text-anchor="end">offered a second</text>
</svg>
`;
}
