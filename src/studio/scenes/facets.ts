import { type Canvas, frameBox, glow, type Layer, n } from "../drawing.ts";
import { blend, hex, type Rgb, shade } from "../palette.ts";
import { createNoise } from "../random.ts";

type Point = readonly [x: number, y: number];

/** Low-poly facets; in a video a second lighting of the same facets comes and goes, so they glitter. */
export function drawFacets(canvas: Canvas): Layer[] {
  const { width, height, palette, random } = canvas;
  const cell = random.range(78, 128);
  const points = jitteredGrid(canvas, cell);
  const relief = createNoise(random, 3);
  const glint = createNoise(random, 1);
  const centre: Point = [width * random.range(0.25, 0.75), height * random.range(0.2, 0.6)];
  const reach = Math.hypot(width, height) * 0.62;
  const angle = random.range(0, Math.PI * 2);
  const paint =
    (light: number) =>
    (a: Point, b: Point, c: Point): Rgb => {
      const x = (a[0] + b[0] + c[0]) / 3;
      const y = (a[1] + b[1] + c[1]) / 3;
      const glow = 1 - Math.min(1, Math.hypot(x - centre[0], y - centre[1]) / reach);
      const facing = Math.atan2(b[1] - a[1] + c[1] - a[1], b[0] - a[0] + c[0] - a[0]);
      const tilt = Math.cos(facing - angle - light * 1.6) * 0.055;
      const tone =
        0.06 +
        0.78 * glow ** 1.25 +
        0.2 * relief(x / 330, y / 330) +
        tilt +
        0.11 * glint(x / 60 + light * 91, y / 60);
      const colour = shade(palette, tone);
      return glint(x / 240 + 13, y / 240 - 7) > 0.52 ? blend(colour, palette.accent, 0.62) : colour;
    };
  const box = frameBox(canvas);
  const shine = glow("shine", [255, 255, 255], 0.3, { at: 0.5, opacity: 0.09 });
  const radius = 520;
  return [
    { body: triangles(points, paint(0)), box },
    { body: triangles(points, paint(1)), box, pose: (t) => ({ opacity: 0.5 - 0.5 * Math.cos(t * 1.7) }) },
    {
      body: `<defs>${shine}</defs><circle cx="${n(centre[0])}" cy="${n(centre[1])}" r="${radius}" fill="url(#shine)"/>`,
      box: { x: centre[0] - radius, y: centre[1] - radius, width: radius * 2, height: radius * 2 },
      pose: (t) => ({ dx: width * 0.22 * Math.sin(t * 0.8), dy: height * 0.16 * Math.sin(t * 1.1) }),
    },
  ];
}

function jitteredGrid(canvas: Canvas, cell: number): Point[][] {
  const { width, height, random } = canvas;
  const rows: Point[][] = [];
  for (let y = -cell; y <= height + cell; y += cell * 0.87) {
    const shift = (rows.length % 2) * cell * 0.5;
    const row: Point[] = [];
    for (let x = -cell * 1.5; x <= width + cell * 1.5; x += cell) {
      row.push([x + shift + random.range(-0.3, 0.3) * cell, y + random.range(-0.3, 0.3) * cell]);
    }
    rows.push(row);
  }
  return rows;
}

function triangles(rows: Point[][], paint: (a: Point, b: Point, c: Point) => Rgb): string {
  let body = "";
  const add = (a: Point, b: Point, c: Point): void => {
    const colour = hex(paint(a, b, c));
    body += `<path d="M${n(a[0])} ${n(a[1])}L${n(b[0])} ${n(b[1])}L${n(c[0])} ${n(c[1])}Z" fill="${colour}" stroke="${colour}"/>`;
  };
  for (let r = 0; r + 1 < rows.length; r++) {
    const upper = rows[r] ?? [];
    const lower = rows[r + 1] ?? [];
    for (let c = 0; c + 1 < upper.length; c++) {
      const [a, b, d, e] = [upper[c], upper[c + 1], lower[c], lower[c + 1]];
      if (!a || !b || !d || !e) continue;
      // Odd rows lean the other way, so that the mesh shows no direction.
      if (r % 2 === 0) {
        add(a, b, d);
        add(b, e, d);
      } else {
        add(a, b, e);
        add(a, e, d);
      }
    }
  }
  return `<g stroke-width="1.4" stroke-linejoin="round">${body}</g>`;
}
