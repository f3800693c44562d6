import { type Canvas, frameBox, type Layer, linearGradient, n, rectangle } from "../drawing.ts";
import { hex, shade } from "../palette.ts";
import { createNoise, type Noise } from "../random.ts";

const CELL = 13;
const STEP = 9;
/** The sine of the turn at a point that may be left out between two others. */
const SLIGHT = 0.15;
const MARGIN = 130;

/** Evenly spaced ribbons that follow a field of noise; in a video three sheets of them sway apart and back. */
export function drawFlow(canvas: Canvas): Layer[] {
  const { width, height, palette, random } = canvas;
  const dark = random.chance(0.65);
  const noise = createNoise(random, 2);
  const tint = createNoise(random, 2);
  const scale = random.range(420, 760);
  const twist = random.range(1.1, 2.1);
  const base = random.range(0, Math.PI * 2);
  const field: Noise = (x, y) => base + twist * Math.PI * noise(x / scale, y / scale);
  const groups = ["", "", ""];
  for (const line of traceLines(canvas, field)) {
    const [x, y] = line.points[0] ?? [0, 0];
    const place = tint(x / 520 + 31, y / 520) * 0.5 + 0.5;
    const tone = dark ? 0.24 + 0.72 * place : 0.06 + 0.7 * place;
    const colour = random.chance(0.07) ? palette.accent : shade(palette, tone + random.range(-0.09, 0.09));
    const group = random.int(0, 2);
    const path = drawnOf(line.points)
      .map((point, i) => `${i === 0 ? "M" : "L"}${n(point[0])} ${n(point[1])}`)
      .join("");
    groups[group] += `<path d="${path}" stroke="${hex(colour)}" stroke-width="${n(line.thickness)}"/>`;
  }
  const ground = linearGradient(
    "ground",
    [
      { at: 0, colour: shade(palette, dark ? 0.02 : 0.96) },
      { at: 1, colour: shade(palette, dark ? 0.2 : 0.8) },
    ],
    [1, 1],
  );
  const back: Layer = {
    body: `<defs>${ground}</defs>${rectangle(frameBox(canvas), "url(#ground)")}`,
    box: frameBox(canvas),
  };
  const sheets = groups.map((body, i): Layer => {
    const heading = base + (i * Math.PI * 2) / 3;
    return {
      body: `<g fill="none" stroke-linecap="round" stroke-linejoin="round">${body}</g>`,
      box: frameBox(canvas, MARGIN),
      pivot: { x: width / 2, y: height / 2 },
      pose: (t) => {
        const swing = Math.sin(t * 0.9 + i * 0.7) - Math.sin(i * 0.7);
        return { dx: Math.cos(heading) * swing * 34, dy: Math.sin(heading) * swing * 34 };
      },
    };
  });
  return [back, ...sheets];
}

type Point = readonly [x: number, y: number];

interface Line {
  readonly points: readonly Point[];
  readonly thickness: number;
}

/** Leaves out every other point where a ribbon hardly turns: its look stays, and it takes less time to draw. */
function drawnOf(points: readonly Point[]): Point[] {
  return points.filter(([x, y], i) => {
    const [before, after] = [points[i - 1], points[i + 1]];
    if (i % 2 === 0 || before === undefined || after === undefined) return true;
    const turn = (x - before[0]) * (after[1] - y) - (y - before[1]) * (after[0] - x);
    return Math.abs(turn) > SLIGHT * STEP * STEP;
  });
}

function traceLines(canvas: Canvas, field: Noise): Line[] {
  const { random } = canvas;
  const box = frameBox(canvas, MARGIN);
  const columns = Math.ceil(box.width / CELL);
  const rows = Math.ceil(box.height / CELL);
  const taken = new Int32Array(columns * rows);
  const isFree = (x: number, y: number, id: number, reach: number): boolean => {
    const column = Math.floor((x - box.x) / CELL);
    const row = Math.floor((y - box.y) / CELL);
    for (let r = row - reach; r <= row + reach; r++) {
      for (let c = column - reach; c <= column + reach; c++) {
        if (c < 0 || r < 0 || c >= columns || r >= rows) continue;
        const owner = taken[r * columns + c] ?? 0;
        if (owner !== 0 && owner !== id) return false;
      }
    }
    return column >= 0 && row >= 0 && column < columns && row < rows;
  };
  const lines: Line[] = [];
  const tries = Math.round((box.width * box.height) / 520);
  for (let id = 1; id <= tries; id++) {
    const wide = id < tries * 0.16;
    const reach = wide ? 1 : 0;
    const x = box.x + random.next() * box.width;
    const y = box.y + random.next() * box.height;
    const longest = random.int(24, 90);
    if (!isFree(x, y, id, reach)) continue;
    const points: [number, number][] = [];
    let [px, py] = [x, y];
    while (points.length < longest && isFree(px, py, id, reach)) {
      points.push([px, py]);
      taken[Math.floor((py - box.y) / CELL) * columns + Math.floor((px - box.x) / CELL)] = id;
      const angle = field(px, py);
      px += Math.cos(angle) * STEP;
      py += Math.sin(angle) * STEP;
    }
    if (points.length >= 5)
      lines.push({ points, thickness: wide ? random.range(9, 17) : random.range(3, 7.5) });
  }
  return lines;
}
