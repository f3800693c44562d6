import { beginArena, endArena } from "./arena.ts";
import { encodeVideo, FRAMES_PER_SECOND } from "./encode.ts";
import { choosePalette } from "./palette.ts";
import { createRandom, ease } from "./random.ts";
import { referenceActs } from "./reference.ts";
import { InputInvalidError, type Rendered, type VideoJob } from "./render-job.ts";
import { composeScene } from "./scene.ts";
import { editSource, extendSource, followMotion } from "./source-video.ts";
import { createFrame, drawSprite } from "./sprite.ts";
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

/** Renders a video. Asks `isCancelled` before every frame. @throws InputInvalidError for missing or unreadable media */
export async function renderVideo(job: VideoJob, isCancelled: () => boolean): Promise<Rendered> {
  const random = createRandom("video", job.mode, job.prompt, job.seed);
  beginArena();
  let shot: Shot | undefined;
  try {
    shot = await prepare({ job, random, palette: choosePalette(job.prompt, random) });
    const { draw } = shot;
    const frame = createFrame(shot.size.width, shot.size.height);
    const bytes = await encodeVideo({ frame, frameCount: shot.frameCount }, (index) => {
      if (isCancelled()) throw new Error("The video is no longer wanted.");
      return draw(frame, index);
    });
    return {
      bytes,
      contentType: "video/mp4",
      ...shot.size,
      durationSec: shot.frameCount / FRAMES_PER_SECOND,
    };
  } finally {
    endArena();
    await shot?.release?.();
  }
}

function prepare(direction: Direction): Promise<Shot> {
  const { job } = direction;
  switch (job.mode) {
    case "text":
      return fromText(direction);
    case "image":
    case "frames":
      return fromImages(direction);
    case "reference":
      return fromReferences(direction);
    case "extend":
      return extendSource(direction);
    case "edit":
      return editSource(direction);
    case "motion":
      return followMotion(direction);
  }
}

async function fromText({ job }: Direction): Promise<Shot> {
  const size = jobSize(job);
  const scene = composeScene({ ...job, index: 0 });
  return stageShot(job, [await sceneAct(scene, size), await captionAct(job, size)]);
}

/** A slow camera over one image, or from a first image into a last one; the first frame is the first image. */
async function fromImages({ job, random, palette }: Direction): Promise<Shot> {
  const size = jobSize(job);
  const [first, last] = job.images;
  if (first === undefined) throw new InputInvalidError(`The mode "${job.mode}" needs a first image.`);
  const from = await loadCover(first, "first image", size);
  const to =
    job.mode === "frames" && last !== undefined ? await loadCover(last, "last image", size) : undefined;
  const panX = random.range(-0.9, 0.9);
  const panY = random.range(-0.9, 0.9);
  const lengthSec = job.durationSec - 1 / FRAMES_PER_SECOND;
  const move: Act = (frame, t) => {
    const progress = ease(t / lengthSec) * 0.7 + (t / lengthSec) * 0.3;
    drawSprite(frame, from, camera(from, size, 1 + 0.2 * progress, panX, panY));
    if (to === undefined) return;
    const mix = ease((progress - 0.22) / 0.56);
    drawSprite(frame, to, camera(to, size, 1 + 0.2 * (1 - progress), -panX, -panY), mix);
  };
  const acts: Act[] = [move];
  // A light of its own would make the last frame differ from the image that was asked for.
  if (to === undefined) acts.push(await lightAct(palette.accent, size));
  return stageShot(job, [...acts, await captionAct({ ...job, place: "top" }, size, 0.7)]);
}

async function fromReferences({ job, random }: Direction): Promise<Shot> {
  const size = jobSize(job);
  const backdrop = await sceneAct(composeScene({ ...job, index: 0 }), size);
  const cards = await referenceActs(job.images, size, random);
  return stageShot(job, [backdrop, ...cards, await captionAct(job, size)]);
}

function stageShot(job: VideoJob, acts: readonly Act[]): Shot {
  return shotOf(jobSize(job), Math.round(job.durationSec * FRAMES_PER_SECOND), acts);
}

function jobSize({ width, height }: VideoJob): Size {
  return { width, height };
}
