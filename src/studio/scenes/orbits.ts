import { type Canvas, frameBox, glow, type Layer, n, radialGradient, rectangle } from "../drawing.ts";
import { blend, hex, shade } from "../palette.ts";

/** A planet among rings of dashes, arcs and moons; in a video each group of rings turns at its own pace. */
export function drawOrbits(canvas: Canvas): Layer[] {
  const { width, height, random } = canvas;
  const pivot = { x: width * random.range(0.34, 0.66), y: height * random.range(0.36, 0.58) };
  const core = random.range(95, 165);
  const outer = Math.max(620, Math.min(900, Math.hypot(width, height) * 0.5));
  const bodies = ["", "", ""];
  let radius = core + random.range(38, 70);
  while (radius < outer) {
    const group = random.int(0, 2);
    bodies[group] += ring(canvas, pivot, radius);
    radius += random.range(20, 64) * (1 + radius / 1400);
  }
  const rates = [0.22, -0.16, 0.42].map((rate) => rate * random.range(0.8, 1.3));
  const box = { x: pivot.x - outer, y: pivot.y - outer, width: outer * 2, height: outer * 2 };
  const rings = bodies.map(
    (body, i): Layer => ({
      body: `<g fill="none" stroke-linecap="round">${body}</g>`,
      box,
      pivot,
      pose: (t) => ({ angle: (rates[i] ?? 0.2) * t }),
    }),
  );
  return [space(canvas, pivot), ...rings, planet(canvas, pivot, core)];
}

/*
 * The opacity of a shape is that of its fill or stroke: with `opacity`, librsvg draws each shape onto a surface as large as the picture.
 */

function space(canvas: Canvas, pivot: { x: number; y: number }): Layer {
  const { width, height, palette, random } = canvas;
  const reach = Math.hypot(width, height) * 0.62;
  const haze = radialGradient("haze", [
    { at: 0, colour: shade(palette, 0.42), opacity: 0.95 },
    { at: 0.3, colour: shade(palette, 0.26), opacity: 0.75 },
    { at: 1, colour: shade(palette, 0.02), opacity: 0 },
  ]);
  let body =
    `<defs>${haze}</defs>${rectangle(frameBox(canvas), hex(shade(palette, 0.02)))}` +
    `<circle cx="${n(pivot.x)}" cy="${n(pivot.y)}" r="${n(reach)}" fill="url(#haze)"/>`;
  const stars = Math.round((width * height) / 5200);
  for (let i = 0; i < stars; i++) {
    const colour = random.chance(0.1) ? palette.accent : shade(palette, random.range(0.7, 1));
    body += `<circle cx="${n(random.range(0, width))}" cy="${n(random.range(0, height))}" r="${n(0.7 + 2 * random.next() ** 4)}" fill="${hex(colour)}" fill-opacity="${random.range(0.15, 0.85).toFixed(2)}"/>`;
  }
  return { body, box: frameBox(canvas) };
}

function ring(canvas: Canvas, pivot: { x: number; y: number }, radius: number): string {
  const { palette, random } = canvas;
  const colour = hex(random.chance(0.2) ? palette.accent : shade(palette, random.range(0.5, 1)));
  const at = (angle: number): string =>
    `${n(pivot.x + Math.cos(angle) * radius)} ${n(pivot.y + Math.sin(angle) * radius)}`;
  const circle = (style: string): string =>
    `<circle cx="${n(pivot.x)}" cy="${n(pivot.y)}" r="${n(radius)}" stroke="${colour}" ${style}/>`;
  const start = random.range(0, Math.PI * 2);
  let body = circle(`stroke-width="1.6" stroke-opacity="0.28"`);
  switch (random.int(0, 3)) {
    case 0: {
      const sweep = random.range(0.7, 2.9);
      const thickness = n(random.range(5, 20));
      body += `<path d="M${at(start)}A${n(radius)} ${n(radius)} 0 0 1 ${at(start + sweep)}" stroke="${colour}" stroke-width="${thickness}" stroke-opacity="0.92"/>`;
      break;
    }
    case 1:
      body += circle(
        `stroke-width="${n(random.range(3, 8))}" stroke-dasharray="1 ${n(random.range(13, 30))}" stroke-opacity="0.85"`,
      );
      break;
    case 2:
      body += circle(
        `stroke-width="${n(random.range(2, 5))}" stroke-dasharray="${n(random.range(30, 120))} ${n(random.range(24, 60))}" stroke-opacity="0.8"`,
      );
      break;
    default:
      body += circle(`stroke-width="${n(random.range(2, 4))}" stroke-opacity="0.7"`);
  }
  const moons = random.int(0, 2);
  for (let i = 0; i < moons; i++) {
    const [x = "0", y = "0"] = at(start + 1 + i * random.range(1.4, 3)).split(" ");
    const size = random.range(6, 19);
    const tone = random.chance(0.3) ? palette.accent : shade(palette, random.range(0.7, 1));
    body += `<circle cx="${x}" cy="${y}" r="${n(size * 1.9)}" fill="${hex(tone)}" fill-opacity="0.16"/><circle cx="${x}" cy="${y}" r="${n(size)}" fill="${hex(tone)}"/>`;
  }
  return body;
}

function planet(canvas: Canvas, pivot: { x: number; y: number }, core: number): Layer {
  const { palette, random } = canvas;
  const light = shade(palette, 1);
  const aura = glow("corona", palette.accent, 0.6, { at: 0.5, opacity: 0.28 });
  const ball = `<radialGradient id="ball" cx="0.36" cy="0.3" r="0.78"><stop offset="0" stop-color="${hex(light)}"/><stop offset="0.32" stop-color="${hex(blend(light, palette.accent, 0.6))}"/><stop offset="0.7" stop-color="${hex(blend(palette.accent, shade(palette, 0.3), 0.55))}"/><stop offset="1" stop-color="${hex(shade(palette, 0.08))}"/></radialGradient>`;
  let bands = "";
  for (let y = -core; y < core; y += random.range(14, 40)) {
    bands += `<path d="M${n(pivot.x - core)} ${n(pivot.y + y)}q${n(core)} ${n(random.range(10, 34))} ${n(core * 2)} 0v${n(random.range(4, 15))}q${n(-core)} ${n(random.range(10, 30))} ${n(-core * 2)} 0Z" fill="${hex(shade(palette, random.range(0.2, 1)))}" fill-opacity="0.16"/>`;
  }
  const reach = core * 2.1;
  return {
    body:
      `<defs>${aura}${ball}<clipPath id="globe"><circle cx="${n(pivot.x)}" cy="${n(pivot.y)}" r="${n(core)}"/></clipPath></defs>` +
      `<circle cx="${n(pivot.x)}" cy="${n(pivot.y)}" r="${n(reach)}" fill="url(#corona)"/>` +
      `<circle cx="${n(pivot.x)}" cy="${n(pivot.y)}" r="${n(core)}" fill="url(#ball)"/><g clip-path="url(#globe)">${bands}</g>`,
    box: { x: pivot.x - reach, y: pivot.y - reach, width: reach * 2, height: reach * 2 },
    pivot,
    pose: (t) => ({ zoom: 1 + 0.02 * Math.sin(t * 1.6) }),
  };
}
