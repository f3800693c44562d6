import type { YearDay, YearOptions } from "./simulate.ts";

const [WIDTH, HEIGHT, LEFT, BOTTOM, TOP] = [760, 300, 60, 40, 30];
const MB = 1_000_000;

/** Draws the size of the database on each day as an SVG, in megabytes. */
export function plot(days: readonly YearDay[], options: YearOptions): string {
  const most = Math.ceil(Math.max(...days.map((day) => day.fileBytes)) / MB / 10) * 10;
  const x = (day: number) => LEFT + (day / Math.max(1, days.length - 1)) * (WIDTH - LEFT - 20);
  const y = (bytes: number) => HEIGHT - BOTTOM - (bytes / MB / most) * (HEIGHT - BOTTOM - TOP);
  const line = (bytesOf: (day: YearDay) => number) =>
    days.map((day, i) => `${x(i).toFixed(1)},${y(bytesOf(day)).toFixed(1)}`).join(" ");
  const ticks = [0, most / 2, most].map(
    (mb) => `<text x="${LEFT - 8}" y="${y(mb * MB) + 4}" text-anchor="end">${mb} MB</text>
<line x1="${LEFT}" x2="${WIDTH - 20}" y1="${y(mb * MB)}" y2="${y(mb * MB)}" stroke="#ddd"/>`,
  );
  const months = Array.from({ length: Math.floor(days.length / 30) + 1 }, (_, i) => i * 30).map(
    (day) => `<text x="${x(day)}" y="${HEIGHT - BOTTOM + 18}" text-anchor="middle">${day}</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12" fill="#333">
<title>Size of the database on each day</title>
<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>
<text x="${LEFT}" y="18">Size of the database by day: ${options.tasks} tasks a day, deleted after ${options.kept} days, in sums after ${options.books}</text>
${ticks.join("\n")}
${months.join("\n")}
<text x="${WIDTH - 20}" y="${HEIGHT - 6}" text-anchor="end">day</text>
<polyline points="${line((day) => day.fileBytes)}" fill="none" stroke="#2563eb" stroke-width="2"/>
<polyline points="${line((day) => day.fileBytes - day.freeBytes)}" fill="none" stroke="#16a34a" stroke-width="1.5"/>
<text x="${WIDTH - 20}" y="${y(most * MB * 0.12)}" text-anchor="end" fill="#2563eb">file</text>
<text x="${WIDTH - 60}" y="${y(most * MB * 0.12)}" text-anchor="end" fill="#16a34a">in use</text>
</svg>
`;
}
