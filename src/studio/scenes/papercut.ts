import { type Canvas, frameBox, glow, type Layer, n, rectangle } from "../drawing.ts";
import { hex, shade } from "../palette.ts";
import { createNoise } from "../random.ts";

const MARGIN = 90;

/** Sheets of paper with ever wider holes, each casting a shadow on the next; in a video they sway like a mobile. */
export function drawPapercut(canvas: Canvas): Layer[] {
  const { width, height, palette, random } = canvas;
  const inward = random.chance(0.6);
  const count = random.int(6, 8);
  const centre = { x: width * random.range(0.4, 0.6), y: height * random.range(0.4, 0.52) };
  const tone = (depth: number): number => (inward ? 0.98 - 0.94 * depth : 0.04 + 0.92 * depth);
  const layers: Layer[] = [heart(canvas, centre, tone(0))];
  const noise = createNoise(random, 2);
  for (let i = 1; i <= count; i++) {
    const depth = i / count;
    layers.push(sheet(canvas, { centre, depth, colour: hex(shade(palette, tone(depth))), noise, phase: i }));
  }
  return layers;
}

function heart(canvas: Canvas, centre: { x: number; y: number }, tone: number): Layer {
  const { palette, random } = canvas;
  const radius = random.range(80, 150);
  const aura = glow("heart", palette.accent, 0.7);
  return {
    body:
      `<defs>${aura}</defs>${rectangle(frameBox(canvas), hex(shade(palette, tone)))}` +
      `<circle cx="${n(centre.x)}" cy="${n(centre.y)}" r="${n(radius * 3)}" fill="url(#heart)"/>` +
      `<circle cx="${n(centre.x)}" cy="${n(centre.y)}" r="${n(radius)}" fill="${hex(palette.accent)}"/>`,
    box: frameBox(canvas),
  };
}

function sheet(
  canvas: Canvas,
  at: {
    centre: { x: number; y: number };
    depth: number;
    colour: string;
    noise: (x: number, y: number) => number;
    phase: number;
  },
): Layer {
  const { width, height } = canvas;
  const box = frameBox(canvas, MARGIN);
  const rx = width * (0.17 + 0.4 * at.depth);
  const ry = height * (0.15 + 0.38 * at.depth);
  let hole = "";
  const steps = 120;
  for (let i = 0; i < steps; i++) {
    const angle = (i / steps) * Math.PI * 2;
    const wobble =
      1 + 0.34 * at.noise(Math.cos(angle) * 1.5 + at.phase * 3.1, Math.sin(angle) * 1.5 + at.phase * 1.7);
    hole += `${i === 0 ? "M" : "L"}${n(at.centre.x + Math.cos(angle) * rx * wobble)} ${n(at.centre.y + Math.sin(angle) * ry * wobble)}`;
  }
  hole += "Z";
  // Soft shadows as stacked strokes: a blur filter costs ten times as much to draw.
  let shadow = "";
  for (const [thickness, opacity] of [
    [58, 0.035],
    [44, 0.04],
    [31, 0.05],
    [20, 0.06],
    [10, 0.08],
  ] as const) {
    shadow += `<path d="${hole}" transform="translate(5 11)" fill="none" stroke="#000" stroke-width="${thickness}" stroke-opacity="${opacity}" stroke-linejoin="round"/>`;
  }
  const frame = `M${n(box.x)} ${n(box.y)}h${n(box.width)}v${n(box.height)}h${n(-box.width)}Z`;
  return {
    body: `${shadow}<path d="${frame}${hole}" fill="${at.colour}" fill-rule="evenodd"/><path d="${hole}" fill="none" stroke="#fff" stroke-opacity="0.16" stroke-width="2"/>`,
    box,
    pose: (t) => {
      const reach = 14 + 44 * at.depth;
      return {
        dx: reach * (Math.sin(t * 0.8 + at.phase) - Math.sin(at.phase)) * 0.6,
        dy: reach * 0.5 * (Math.cos(t * 0.65 + at.phase) - Math.cos(at.phase)),
      };
    },
  };
}
