import { type Canvas, frameBox, glow, type Layer, linearGradient, n } from "../drawing.ts";
import { hex, type Rgb, shade } from "../palette.ts";

const BLACK: Rgb = [0, 0, 0];
const WHITE: Rgb = [255, 255, 255];
const MARGIN = 260;

/** Cloth of crossing bands or tiles of arcs; in a video the cloth drifts and a light passes over it. */
export function drawWeave(canvas: Canvas): Layer[] {
  const { width, height, random } = canvas;
  const body = random.chance(0.5) ? cloth(canvas) : arcs(canvas);
  const heading = random.range(0, Math.PI * 2);
  const reach = 780;
  const centre = { x: width * random.range(0.2, 0.5), y: height * random.range(0.15, 0.4) };
  const light = glow("light", WHITE, 0.34, { at: 0.5, opacity: 0.1 });
  return [
    {
      body,
      box: frameBox(canvas, MARGIN),
      pivot: { x: width / 2, y: height / 2 },
      pose: (t) => {
        const swing = 1 - Math.cos(t * 0.55);
        return { dx: Math.cos(heading) * 105 * swing, dy: Math.sin(heading) * 105 * swing };
      },
    },
    {
      body: `<defs>${light}</defs><circle cx="${n(centre.x)}" cy="${n(centre.y)}" r="${reach}" fill="url(#light)"/>`,
      box: { x: centre.x - reach, y: centre.y - reach, width: reach * 2, height: reach * 2 },
      pose: (t) => ({ dx: width * 0.3 * Math.sin(t * 0.9), dy: height * 0.25 * (1 - Math.cos(t * 0.9)) }),
    },
  ];
}

function cloth(canvas: Canvas): string {
  const { width, height, palette, random } = canvas;
  const pitch = random.range(62, 104);
  const band = pitch * 0.86;
  const reach = Math.hypot(width, height) / 2 + MARGIN;
  const count = Math.ceil((reach * 2) / pitch);
  const twill = random.pick([1, 2, 3]);
  const across = stripes(canvas, count);
  const along = stripes(canvas, count);
  const fold = (id: string, to: readonly [number, number]): string =>
    linearGradient(
      id,
      [
        { at: 0, colour: BLACK, opacity: 0.5 },
        { at: 0.3, colour: BLACK, opacity: 0 },
        { at: 0.5, colour: WHITE, opacity: 0.13 },
        { at: 0.7, colour: BLACK, opacity: 0 },
        { at: 1, colour: BLACK, opacity: 0.5 },
      ],
      to,
    );
  let body = "";
  for (let row = 0; row < count; row++) {
    for (let column = 0; column < count; column++) {
      const over = (column + row * (twill === 3 ? 3 : 1)) % (twill + 1) === 0;
      const x = -reach + column * pitch;
      const y = -reach + row * pitch;
      const colour = hex((over ? across[row] : along[column]) ?? palette.accent);
      const [w, h] = over ? [pitch, band] : [band, pitch];
      const shape = `x="${n(x - w / 2)}" y="${n(y - h / 2)}" width="${n(w + 0.6)}" height="${n(h + 0.6)}"`;
      body += `<rect ${shape} fill="${colour}"/><rect ${shape} fill="url(#${over ? "weft" : "warp"})"/>`;
    }
  }
  const turn = random.pick([45, 30, -20, 12]);
  const ground = `<rect x="${-MARGIN}" y="${-MARGIN}" width="${n(width + 2 * MARGIN)}" height="${n(height + 2 * MARGIN)}" fill="${hex(shade(palette, 0))}"/>`;
  return `<defs>${fold("weft", [1, 0])}${fold("warp", [0, 1])}</defs>${ground}<g transform="translate(${n(width / 2)} ${n(height / 2)}) rotate(${turn})">${body}</g>`;
}

/** Colours of neighbouring bands: runs of a few shades, the accent now and then. */
function stripes(canvas: Canvas, count: number): Rgb[] {
  const { palette, random } = canvas;
  const motif: Rgb[] = [];
  while (motif.length < 9) {
    const colour = random.chance(0.16) ? palette.accent : shade(palette, random.range(0.1, 1));
    for (let i = random.int(1, 3); i > 0; i--) motif.push(colour);
  }
  return Array.from({ length: count }, (_, i) => {
    const place = i % (motif.length * 2);
    return motif[place < motif.length ? place : motif.length * 2 - 1 - place] ?? palette.accent;
  });
}

function arcs(canvas: Canvas): string {
  const { palette, random } = canvas;
  const tile = random.pick([105, 132, 168]);
  const box = frameBox(canvas, MARGIN);
  const strands = random.int(2, 4);
  const ground = shade(palette, random.pick([0, 0.08, 0.94]));
  const bright = ground[0] + ground[1] + ground[2] < 380;
  let under = "";
  let body = "";
  for (let y = box.y; y < box.y + box.height; y += tile) {
    for (let x = box.x; x < box.x + box.width; x += tile) {
      const place = (x - box.x) / box.width + (y - box.y) / box.height;
      const [start, end] = random.chance(0.5) ? [0, 1] : [1, 0];
      if (random.chance(0.12)) {
        under += `<rect x="${n(x)}" y="${n(y)}" width="${tile}" height="${tile}" fill="${hex(shade(palette, bright ? 0.16 : 0.84))}"/>`;
      }
      for (const [cx, cy] of [[start, 0] as const, [end, 1] as const]) {
        const clip = { x: x + cx * tile, y: y + cy * tile };
        for (let strand = 0; strand < strands; strand++) {
          const radius = (tile * (strand + 0.5)) / strands;
          const tone = bright
            ? 0.34 + 0.6 * (strand / strands) * 0.7 + 0.24 * place
            : 0.6 * (1 - place / 2) - 0.3 * (strand / strands);
          const accent = strand === Math.floor(strands / 2) && random.chance(0.25);
          const colour = hex(accent ? palette.accent : shade(palette, tone));
          const sx = cx === 0 ? 1 : -1;
          const sy = cy === 0 ? 1 : -1;
          const sweep = sx * sy > 0 ? 1 : 0;
          if (cy === 1 && radius > tile * 0.71) continue;
          body += `<path d="M${n(clip.x + sx * radius)} ${n(clip.y)}A${n(radius)} ${n(radius)} 0 0 ${sweep} ${n(clip.x)} ${n(clip.y + sy * radius)}" stroke="${colour}"/>`;
        }
      }
    }
  }
  const thickness = n((tile / strands) * 0.62);
  return `<rect x="${n(box.x)}" y="${n(box.y)}" width="${n(box.width)}" height="${n(box.height)}" fill="${hex(ground)}"/>${under}<g fill="none" stroke-width="${thickness}">${body}</g>`;
}
