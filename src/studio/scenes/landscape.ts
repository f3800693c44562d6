import { type Canvas, frameBox, glow, type Layer, linearGradient, n, rectangle } from "../drawing.ts";
import { hex, shade } from "../palette.ts";
import { createNoise } from "../random.ts";

const LONGEST_SEC = 12;

/** Ridges in the mist under a large sun or moon; in a video the ridges pass at their own speeds. */
export function drawLandscape(canvas: Canvas): Layer[] {
  const { height, random } = canvas;
  const free = random.chance(0.35);
  const night = canvas.night ?? free;
  const horizon = height * random.range(0.5, 0.62);
  const layers = [sky(canvas, night, horizon), sun(canvas, night, horizon)];
  const count = random.int(5, 6);
  for (let i = 0; i < count; i++) layers.push(ridge(canvas, { depth: i / (count - 1), night, horizon }));
  layers.push(birds(canvas, horizon, night));
  return layers;
}

function sky(canvas: Canvas, night: boolean, horizon: number): Layer {
  const { width, height, palette, random } = canvas;
  const tones = night ? [0, 0.16, 0.42] : [0.42, 0.72, 0.98];
  const stops = tones.map((tone, i) => ({
    at: (i / 2) * (horizon / height) * 1.15,
    colour: shade(palette, tone),
  }));
  let body = `<defs>${linearGradient("sky", stops)}</defs>${rectangle(frameBox(canvas), "url(#sky)")}`;
  if (night) {
    const stars = Math.round((width * horizon) / 7000);
    for (let i = 0; i < stars; i++) {
      const opacity = random.range(0.15, 0.9) ** 1.6;
      const radius = random.range(0.6, 2.2);
      body += `<circle cx="${n(random.range(0, width))}" cy="${n(random.range(0, horizon))}" r="${n(radius)}" fill="#fff" fill-opacity="${opacity.toFixed(2)}"/>`;
    }
  }
  return { body, box: frameBox(canvas) };
}

function sun(canvas: Canvas, night: boolean, horizon: number): Layer {
  const { width, palette, random } = canvas;
  const radius = random.range(70, 170);
  const x = width * random.pick([0.28, 0.36, 0.62, 0.7]);
  const y = horizon - random.range(40, 300);
  const colour = night ? shade(palette, 1) : palette.accent;
  const halo = radius * 3.4;
  const aura = glow("glow", colour, night ? 0.42 : 0.75, { at: 0.35, opacity: night ? 0.2 : 0.36 });
  const disc = linearGradient("disc", [
    { at: 0, colour: shade(palette, 1) },
    { at: 1, colour: night ? shade(palette, 0.82) : palette.accent },
  ]);
  return {
    body:
      `<defs>${aura}${disc}</defs><circle cx="${n(x)}" cy="${n(y)}" r="${n(halo)}" fill="url(#glow)"/>` +
      `<circle cx="${n(x)}" cy="${n(y)}" r="${n(radius)}" fill="url(#disc)"/>`,
    box: { x: x - halo, y: y - halo, width: halo * 2, height: halo * 2 },
    pose: (t) => ({ dy: -5 * t }),
  };
}

function ridge(canvas: Canvas, at: { depth: number; night: boolean; horizon: number }): Layer {
  const { width, height, palette, random } = canvas;
  const { depth, night, horizon } = at;
  const speed = 5 + 46 * depth ** 1.7;
  const reach = width + speed * LONGEST_SEC;
  const noise = createNoise(random, 5);
  const level = horizon + (height - horizon) * (0.02 + 0.78 * depth ** 1.1);
  const rise = (150 - 60 * depth) * random.range(0.8, 1.35);
  const scale = 330 - 90 * depth;
  const forested = depth > 0.55 && random.chance(0.6);
  const top = (x: number): number => level - rise * (0.35 + noise(x / scale, depth * 40));
  let outline = "";
  let highest = height;
  const step = forested ? 8 : 12;
  for (let x = 0, i = 0; x <= reach + 2 * step; x += forested ? step * random.range(0.6, 1.4) : step, i++) {
    const needle = forested
      ? (i % 2) * (14 + 30 * depth) * (0.25 + 0.9 * Math.abs(noise(x / 17, 7)) + random.range(0, 0.35))
      : 0;
    const y = top(x) - needle;
    highest = Math.min(highest, y);
    outline += `${i === 0 ? "M" : "L"}${n(x)} ${n(y)}`;
  }
  highest -= 2;
  const tone = night ? 0.34 * (1 - depth) ** 1.2 + 0.02 : 0.74 * (1 - depth) ** 1.15 + 0.04;
  const id = `ridge${Math.round(depth * 100)}`;
  const fill = linearGradient(id, [
    { at: 0, colour: shade(palette, tone) },
    { at: 1, colour: shade(palette, Math.min(1, tone + 0.26 * (1 - depth) + 0.04)) },
  ]);
  return {
    body: `<defs>${fill}</defs><path d="${outline}V${n(height + 4)}H0Z" fill="url(#${id})"/>`,
    box: { x: 0, y: highest, width: reach, height: height - highest },
    pose: (t) => ({ dx: -speed * t }),
  };
}

function birds(canvas: Canvas, horizon: number, night: boolean): Layer {
  const { width, palette, random } = canvas;
  const x = width * random.range(0.3, 0.7);
  const y = horizon * random.range(0.3, 0.6);
  let body = "";
  for (let i = 0; i < random.int(4, 7); i++) {
    const span = random.range(7, 15);
    const bx = x + random.range(-90, 90);
    const by = y + random.range(-40, 40);
    body +=
      `<path d="M${n(bx - span)} ${n(by)}q${n(span * 0.5)} ${n(-span * 0.7)} ${n(span)} ${n(span * 0.12)}` +
      `q${n(span * 0.5)} ${n(-span * 0.8)} ${n(span)} ${n(-span * 0.12)}" fill="none" stroke="${hex(shade(palette, night ? 0.8 : 0.12))}" stroke-width="2.4" stroke-linecap="round"/>`;
  }
  return {
    body,
    box: { x: x - 120, y: y - 70, width: 240, height: 140 },
    pose: (t) => ({ dx: 14 * t, dy: -6 * t + 5 * Math.sin(t * 1.3) }),
  };
}
