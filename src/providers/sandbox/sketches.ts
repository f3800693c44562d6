import type { Previews } from "../../domain/ports/provider.ts";
import { partialImagesOf } from "../../domain/task/preview.ts";
import type { Renderer } from "../../studio/render.ts";
import type { EditJob, PictureJob, RenderJob } from "../../studio/render-job.ts";
import type { SandboxFiles } from "./files.ts";
import type { Job } from "./job-store.ts";
import { toRenderJob } from "./render-jobs.ts";
import { kindOf } from "./spec.ts";

/** Draws early versions of outputs: the same pictures, small. */
export interface Sketches {
  /**
   * Draws and shows, in the background and in their order, the previews of a job that are due and not drawn yet.
   *
   * @returns whether any are being drawn
   */
  draw(job: Job, now: number, previews: Previews): boolean;
  /** Stops drawing for a job and forgets it. */
  drop(id: string): void;
  /** Resolves when nothing is being drawn. */
  idle(): Promise<void>;
}

/** The longest side of the first, second and third version, in pixels. */
const SIDES = [96, 192, 384];

/** When each early version that a job's request asked for is due: spaced evenly over its time. */
export function sketchTimes({ spec, submittedAt, readyAt }: Job): number[] {
  const lengthMs = readyAt - submittedAt;
  const count = partialImagesOf({ kind: kindOf(spec), parameters: spec.parameters });
  if (lengthMs <= 0) return [];
  return Array.from({ length: count }, (_, i) => submittedAt + Math.ceil((lengthMs * (i + 1)) / (count + 1)));
}

export function createSketches(deps: {
  readonly renderer: Renderer;
  readonly files: SandboxFiles;
}): Sketches {
  const { renderer, files } = deps;
  /** By job: how many of its versions were due at the last look, and the end of the drawing of the last of them. */
  const begun = new Map<
    string,
    { due: number; drawing?: Promise<void> | undefined; readonly controller: AbortController }
  >();
  const underWay = new Set<Promise<unknown>>();

  const draw = async (job: Job, index: number, previews: Previews, signal: AbortSignal) => {
    const inputs = await files.readInputs(job);
    for (let outputIndex = 0; outputIndex < job.spec.outputs; outputIndex++) {
      const sketch = toSketch(toRenderJob(job.spec, outputIndex, inputs), index);
      if (sketch === undefined) return;
      const { bytes } = await renderer.render(sketch, signal);
      previews.show({ index, outputIndex, bytes });
    }
  };

  return {
    draw(job, now, previews) {
      const due = sketchTimes(job).filter((at) => at <= now).length;
      const known = begun.getOrInsertComputed(job.id, () => ({ due: 0, controller: new AbortController() }));
      const first = known.due;
      known.due = due;
      if (due > first && previews.isWatched()) {
        const drawing = inOrder(known.drawing, first, due, (index) =>
          draw(job, index, previews, known.controller.signal),
        ).finally(() => {
          underWay.delete(drawing);
          if (known.drawing === drawing) known.drawing = undefined;
        });
        known.drawing = drawing;
        underWay.add(drawing);
      }
      return known.drawing !== undefined;
    },
    drop(id) {
      begun.get(id)?.controller.abort();
      begun.delete(id);
    },
    async idle() {
      await Promise.all(underWay);
    },
  };
}

/** Draws versions one after the other. Skips one that cannot be drawn: the picture itself will report what is wrong. */
async function inOrder(
  after: Promise<void> | undefined,
  first: number,
  end: number,
  draw: (index: number) => Promise<void>,
): Promise<void> {
  await after;
  for (let index = first; index < end; index++) await draw(index).catch(() => undefined);
}

/** Makes a job that draws the same picture small; undefined for videos, and for pictures that are made larger. */
export function toSketch(job: RenderJob, index: number): PictureJob | EditJob | undefined {
  if (job.kind === "video" || job.kind === "enlarge") return undefined;
  const within = SIDES[index] ?? 0;
  const { width, height } = job;
  if (job.kind === "edit" && (width === undefined || height === undefined)) return { ...job, within };
  const scaled = (side = 0) => Math.max(1, Math.round(side * Math.min(1, within / longest)));
  const longest = Math.max(width ?? 0, height ?? 0);
  return { ...job, width: scaled(width), height: scaled(height) };
}
