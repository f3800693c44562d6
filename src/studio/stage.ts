import { drawCaption } from "./caption.ts";
import { type Box, glow, linearGradient, type Scene } from "./drawing.ts";
import { FRAMES_PER_SECOND } from "./encode.ts";
import { loadImage } from "./inputs.ts";
import type { Palette, Rgb } from "./palette.ts";
import type { Matrix } from "./plane.ts";
import type { Random } from "./random.ts";
import type { ImageSource, VideoJob } from "./render-job.ts";
import { drawSprite, type Frame, type Sprite, spriteFromRgba } from "./sprite.ts";

/** Something that is drawn onto every frame. @param t seconds since the start */
export type Act = (frame: Frame, t: number) => void;

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** A video ready to be drawn frame by frame, in order. */
export interface Shot {
  readonly size: Size;
  readonly frameCount: number;
  readonly draw: (frame: Frame, index: number) => void | Promise<void>;
  /** Releases what drawing needed. Called once at the end, also after a failure. */
  readonly release?: () => void | Promise<void>;
}

/** The inputs that every mode shares. */
export interface Direction {
  readonly job: VideoJob;
  readonly random: Random;
  readonly palette: Palette;
}

/** A shot in which every act is drawn onto every frame, in order. */
export function shotOf(size: Size, frameCount: number, acts: readonly Act[]): Shot {
  const draw = (frame: Frame, index: number) => {
    for (const act of acts) act(frame, index / FRAMES_PER_SECOND);
  };
  return { size, frameCount, draw };
}

/** Rasterises every layer of a scene once; the act then only moves them. */
export async function sceneAct(scene: Scene, size: Size): Promise<Act> {
  const scale = Math.max(size.width / scene.width, size.height / scene.height);
  const left = (size.width - scene.width * scale) / 2;
  const top = (size.height - scene.height * scale) / 2;
  const actors = await Promise.all(
    scene.layers.map(async (layer) => {
      const { box } = layer;
      const sprite = await drawSvg(layer.body, { width: box.width * scale, height: box.height * scale }, box);
      const at = { x: box.x * scale + left, y: box.y * scale + top };
      const pivot = { x: (layer.pivot?.x ?? 0) * scale + left, y: (layer.pivot?.y ?? 0) * scale + top };
      return { sprite, at, pivot, pose: layer.pose };
    }),
  );
  return (frame, t) => {
    for (const { sprite, at, pivot, pose } of actors) {
      const { dx = 0, dy = 0, angle = 0, zoom = 1, opacity = 1 } = pose?.(t) ?? {};
      const cos = Math.cos(angle) * zoom;
      const sin = Math.sin(angle) * zoom;
      const [x, y] = [at.x - pivot.x, at.y - pivot.y];
      const e = pivot.x + cos * x - sin * y + dx * scale;
      const f = pivot.y + sin * x + cos * y + dy * scale;
      drawSprite(frame, sprite, { a: cos, b: -sin, c: sin, d: cos, e, f }, opacity);
    }
  };
}

/** Prompt, mark and note over the picture, fading in when `fadeInSec` is more than 0. */
export async function captionAct(
  text: { prompt: string; label: string; note?: string | undefined; place?: "bottom" | "top" },
  size: Size,
  fadeInSec = 0,
): Promise<Act> {
  const caption = await drawCaption({ ...text, ...size });
  if (caption === "") return () => undefined;
  const sprite = await drawSvg(caption, size);
  return (frame, t) => drawSprite(frame, sprite, IDENTITY, fadeInSec === 0 ? 1 : t / fadeInSec);
}

/** A warm light that wanders through the frame; it is dark at the start. */
export async function lightAct(colour: Rgb, size: Size): Promise<Act> {
  const reach = Math.max(size.width, size.height);
  const gradient = glow("light", colour, 0.4, { at: 0.5, opacity: 0.14 });
  const half = reach / 2;
  const body = `<defs>${gradient}</defs><circle cx="${half}" cy="${half}" r="${half}" fill="url(#light)"/>`;
  const sprite = await drawSvg(body, { width: reach, height: reach });
  return (frame, t) => {
    const x = size.width * (0.25 + 0.5 * Math.sin(t * 0.5) ** 2) - half;
    const y = size.height * (0.15 + 0.2 * Math.sin(t * 0.7)) - half;
    const opacity = Math.min(1, t / 1.2) * (0.75 + 0.25 * Math.cos(t * 1.3));
    drawSprite(frame, sprite, { ...IDENTITY, e: x, f: y }, opacity);
  };
}

/** An even darkening, so that what is drawn on top stands out. */
export async function dimAct(opacity: number, size: Size): Promise<Act> {
  const stops = [0, 1].map((at) => ({ at, colour: [0, 0, 0] as const, opacity }));
  const body = `<defs>${linearGradient("dim", stops)}</defs><rect width="${size.width}" height="${size.height}" fill="url(#dim)"/>`;
  const sprite = await drawSvg(body, size);
  return (frame) => drawSprite(frame, sprite, IDENTITY);
}

/** An image cropped to the frame's shape, a little larger than the frame so that a camera can approach it. */
export async function loadCover(
  source: ImageSource,
  name: string,
  size: Size,
  larger = 1.12,
): Promise<Sprite> {
  const [width, height] = [even(size.width * larger), even(size.height * larger)];
  const { rgba } = await loadImage(source, name, { width, height });
  // A video has no transparency: what the image leaves open is dark.
  for (let i = 0; i < rgba.length; i += 4) {
    const alpha = rgba[i + 3] ?? 255;
    if (alpha === 255) continue;
    for (let k = i; k < i + 3; k++) rgba[k] = ((rgba[k] ?? 0) * alpha + 18 * (255 - alpha)) / 255;
    rgba[i + 3] = 255;
  }
  return spriteFromRgba(rgba, width, height);
}

/** Looks at a sprite that fills the frame; zoom 1 shows all of it. Pans go from −1 to 1, edge to edge of the rest. */
export function camera(sprite: Size, frame: Size, zoom: number, panX = 0, panY = 0): Matrix {
  const fit = Math.max(frame.width / sprite.width, frame.height / sprite.height) * zoom;
  const spareX = (frame.width - sprite.width * fit) / 2;
  const spareY = (frame.height - sprite.height * fit) / 2;
  return { a: fit, b: 0, c: 0, d: fit, e: spareX * (1 + panX), f: spareY * (1 + panY) };
}

/** @param view the part of the drawing to show, in its own units; the pixels' own when absent */
async function drawSvg(body: string, size: Size, view?: Box): Promise<Sprite> {
  const { default: sharp } = await import("sharp");
  const [width, height] = [even(size.width), even(size.height)];
  const { x, y, ...shown } = view ?? { x: 0, y: 0, ...size };
  const viewBox = `${x} ${y} ${shown.width} ${shown.height}`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="${viewBox}" preserveAspectRatio="none">${body}</svg>`;
  const rgba = await sharp(Buffer.from(svg), { limitInputPixels: false }).ensureAlpha().raw().toBuffer();
  return spriteFromRgba(rgba, width, height);
}

const IDENTITY: Matrix = { a: 1, b: 0, c: 0, d: 1, e: 0, f: 0 };

export function even(value: number): number {
  return Math.max(2, Math.ceil(value / 2) * 2);
}
