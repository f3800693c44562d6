import { openSource, type SourcePicture, type SourceVideo } from "./decode.ts";
import { FRAMES_PER_SECOND } from "./encode.ts";
import { estimateMotion, wanderingPath } from "./motion.ts";
import { shade } from "./palette.ts";
import { ease } from "./random.ts";
import { InputInvalidError } from "./render-job.ts";
import { composeScene } from "./scene.ts";
import { createFrame, drawSprite, type Frame, frameSprite, type Sprite } from "./sprite.ts";
import {
  type Act,
  camera,
  captionAct,
  type Direction,
  lightAct,
  loadCover,
  type Shot,
  type Size,
  sceneAct,
  shotOf,
} from "./stage.ts";

const LONGEST_MOTION_SEC = 10;
const UNREADABLE =
  "The source video's pictures could not be decoded here; only its size, length and fingerprint were used.";

/** The source, then `durationSec` more: the camera moves on from its last picture into new light. */
export async function extendSource(direction: Direction): Promise<Shot> {
  const { job, palette } = direction;
  const { source, size, reel, note } = await openReel(direction);
  const sourceFrames = Math.max(1, Math.round(source.durationSec * FRAMES_PER_SECOND));
  const light = await lightAct(palette.accent, size);
  const caption = await captionAct({ ...job, note, place: "top" }, size, note === undefined ? 0.7 : 0);
  let last: Sprite | undefined;
  const draw = async (frame: Frame, index: number): Promise<void> => {
    const t = index / FRAMES_PER_SECOND;
    if (index < sourceFrames) {
      await reel.draw(frame, t);
      if (index === sourceFrames - 1)
        last = frameSprite(createFrame(size.width, size.height, frame.bytes.slice()));
      if (note !== undefined) caption(frame, t);
      return;
    }
    const since = (index - sourceFrames + 1) / FRAMES_PER_SECOND;
    if (last !== undefined) {
      const push = 0.26 * (since / 10 + ease(since / Math.max(1, job.durationSec)) * 0.5);
      drawSprite(frame, last, camera(last, size, 1 + push, 0.25 * Math.sin(since * 0.8), 0));
    }
    light(frame, since);
    caption(frame, note === undefined ? since : t);
  };
  return {
    size,
    frameCount: sourceFrames + Math.round(job.durationSec * FRAMES_PER_SECOND),
    draw,
    release: reel.release,
  };
}

/** Every picture of the source in the colours of the prompt, with a wandering light. */
export async function editSource(direction: Direction): Promise<Shot> {
  const { job, random, palette } = direction;
  const { source, size, reel, note } = await openReel(direction);
  const levels = random.chance(0.4) ? random.int(5, 7) : 256;
  const kept = random.range(0.1, 0.25);
  const tones = createFrame(256, 2);
  for (let luma = 0; luma < 256; luma++) {
    const stretched = Math.min(1, Math.max(0, (luma - 16) / 219));
    const stepped = levels === 256 ? stretched : Math.round(stretched * (levels - 1)) / (levels - 1);
    const [red, green, blue] = shade(palette, 0.03 + 0.97 * stepped);
    tones.y[luma] = 16.5 + 0.1826 * red + 0.6142 * green + 0.062 * blue;
    tones.y[luma + 256] = 128.5 - 0.1006 * red - 0.3386 * green + 0.4392 * blue;
    tones.u[luma] = 128.5 + 0.4392 * red - 0.3989 * green - 0.0403 * blue;
  }
  const light = await lightAct(palette.accent, size);
  const caption = await captionAct({ ...job, note, place: "top" }, size);
  const draw = async (frame: Frame, index: number): Promise<void> => {
    const t = index / FRAMES_PER_SECOND;
    await reel.draw(frame, t);
    // The scene that replaces an unreadable source already has the prompt's colours.
    if (note === undefined) recolour(frame, { y: tones.y, u: tones.y.subarray(256), v: tones.u }, kept);
    light(frame, t);
    caption(frame, t);
  };
  const frameCount = Math.max(1, Math.round(source.durationSec * FRAMES_PER_SECOND));
  return { size, frameCount, draw, release: reel.release };
}

/** The image, moved the way the busiest part of the motion video moves. */
export async function followMotion(direction: Direction): Promise<Shot> {
  const { job, palette } = direction;
  const size = { width: job.width, height: job.height };
  const [image] = job.images;
  if (image === undefined) throw new InputInvalidError("Motion control needs an image to move.");
  const bytes = requireVideo(direction);
  const source = await openSource(bytes);
  const durationSec = Math.min(LONGEST_MOTION_SEC, source.durationSec);
  const frameCount = Math.max(1, Math.round(durationSec * FRAMES_PER_SECOND));
  const measured =
    source.pictures === undefined ? undefined : await estimateMotion(source.pictures(), durationSec);
  const path = measured ?? wanderingPath(fingerprint(bytes));
  const note = measured === undefined ? UNREADABLE : undefined;
  const sprite = await loadCover(image, "image", size, 1.3);
  const acts: Act[] = [
    (frame, t) => {
      const { x, y } = path(t);
      drawSprite(frame, sprite, camera(sprite, size, 1.3, -x, -y));
    },
    await lightAct(palette.accent, size),
    await captionAct({ ...job, note, place: "top" }, size, 0.7),
  ];
  return shotOf(size, frameCount, acts);
}

interface Reel {
  /** Draws the source's picture at `t`; `t` never goes back. */
  draw(frame: Frame, t: number): Promise<void>;
  release(): Promise<void>;
}

async function openReel(
  direction: Direction,
): Promise<{ source: SourceVideo; size: Size; reel: Reel; note?: string }> {
  const { job } = direction;
  const bytes = requireVideo(direction);
  const source = await openSource(bytes);
  const size =
    job.width > 0 && job.height > 0
      ? { width: job.width, height: job.height }
      : { width: source.width, height: source.height };
  if (source.pictures !== undefined) return { source, size, reel: pictureReel(source.pictures()) };
  const scene = composeScene({ prompt: job.prompt, seed: fingerprint(bytes), index: 0, ...size });
  const act = await sceneAct(scene, size);
  const reel: Reel = { draw: async (frame, t) => act(frame, t), release: async () => undefined };
  return { source, size, reel, note: UNREADABLE };
}

/** Follows the pictures at their own rate: each is shown until the next one is due, the last one until the end. */
function pictureReel(pictures: AsyncGenerator<SourcePicture, void>): Reel {
  let current: SourcePicture | undefined;
  let ended = false;
  return {
    draw: async (frame, t) => {
      while (!ended && (current === undefined || current.untilSec <= t + 1e-3)) {
        const next = await pictures.next();
        if (next.done) ended = true;
        else current = next.value;
      }
      if (current === undefined) return;
      const { frame: picture } = current;
      if (picture.width === frame.width && picture.height === frame.height) frame.bytes.set(picture.bytes);
      else drawSprite(frame, frameSprite(picture), camera(picture, frame, 1));
    },
    release: async () => {
      await pictures.return();
    },
  };
}

function recolour(frame: Frame, tones: { y: Uint8Array; u: Uint8Array; v: Uint8Array }, kept: number): void {
  const half = frame.width >> 1;
  for (let i = 0; i < frame.u.length; i++) {
    const luma = frame.y[Math.floor(i / half) * 2 * frame.width + (i % half) * 2] ?? 16;
    frame.u[i] = (tones.u[luma] ?? 128) * (1 - kept) + (frame.u[i] ?? 128) * kept + 0.5;
    frame.v[i] = (tones.v[luma] ?? 128) * (1 - kept) + (frame.v[i] ?? 128) * kept + 0.5;
  }
  for (let i = 0; i < frame.y.length; i++) frame.y[i] = tones.y[frame.y[i] ?? 16] ?? 16;
}

function requireVideo({ job }: Direction): Uint8Array {
  if (job.video === undefined) throw new InputInvalidError(`The mode "${job.mode}" needs a source video.`);
  return job.video;
}

function fingerprint(bytes: Uint8Array): number {
  return Bun.hash.crc32(bytes);
}
