import { type Canvas, frameBox, glow, type Layer, n, rectangle } from "../drawing.ts";
import { blend, hex, type Rgb, shade } from "../palette.ts";
import { createNoise } from "../random.ts";

const MARGIN = 90;
const STEPS = 120;
/**
 * How far each layer of a shadow reaches into the hole, and how dark it is. A shadow is drawn as stacked sheets: strokes take twice as long to
 * draw, and a blur twenty times.
 */
const SHADOW = [
  [27, 0.035],
  [16, 0.05],
  [6, 0.065],
  [-3, 0.08],
] as const;
/** Where the light comes from: shadows lie to the right and below. */
const FALL = [5, 11] as const;

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
    layers.push(sheet(canvas, { centre, depth, colour: shade(palette, tone(depth)), noise, phase: i }));
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
    colour: Rgb;
    noise: (x: number, y: number) => number;
    phase: number;
  },
): Layer {
  const { width, height } = canvas;
  const box = frameBox(canvas, MARGIN);
  const rx = width * (0.17 + 0.4 * at.depth);
  const ry = height * (0.15 + 0.38 * at.depth);
  const edge = Array.from({ length: STEPS }, (_, i) => {
    const angle = (i / STEPS) * Math.PI * 2;
    const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
    const wobble = 1 + 0.34 * at.noise(cos * 1.5 + at.phase * 3.1, sin * 1.5 + at.phase * 1.7);
    return { cos, sin, x: at.centre.x + cos * rx * wobble, y: at.centre.y + sin * ry * wobble };
  });
  const frame = `M${n(box.x)} ${n(box.y)}h${n(box.width)}v${n(box.height)}h${n(-box.width)}Z`;
  /** All but a hole that is wider than the sheet's. */
  const around = (wider: number, [right, down]: readonly [number, number] = [0, 0]): string => {
    const points = edge.map(({ cos, sin, x, y }) => {
      return `${n(x + right + cos * wider)} ${n(y + down + sin * wider)}`;
    });
    return `<path d="${frame}M${points.join("L")}Z" fill-rule="evenodd"`;
  };
  const shadow = SHADOW.map(([reach, opacity]) => `${around(-reach, FALL)} fill-opacity="${opacity}"/>`);
  const rim = hex(blend(at.colour, [255, 255, 255], 0.16));
  return {
    body: `${shadow.join("")}${around(-1)} fill="${rim}"/>${around(1)} fill="${hex(at.colour)}"/>`,
    box,
    pose: (t) => {
      const swing = 14 + 44 * at.depth;
      return {
        dx: swing * (Math.sin(t * 0.8 + at.phase) - Math.sin(at.phase)) * 0.6,
        dy: swing * 0.5 * (Math.cos(t * 0.65 + at.phase) - Math.cos(at.phase)),
      };
    },
  };
}
