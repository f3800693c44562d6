import { createPool } from "./pool.ts";

export type ImageFormat = "png" | "jpeg" | "webp";

/** A new picture from text. */
export interface PictureJob {
  kind: "picture";
  prompt: string;
  seed: number;
  /** Which of several pictures of one request this is; it varies the drawing. */
  index: number;
  /** 1 … 4096 */
  width: number;
  height: number;
  format: ImageFormat;
  /** Shown small beside the mark, such as a model's name; may be empty. */
  label: string;
}

/** A transformation of one or more images. */
export interface EditJob {
  kind: "edit";
  prompt: string;
  seed: number;
  index: number;
  inputs: Uint8Array[];
  /** An image with alpha: transparent areas are edited, opaque ones stay as they are. */
  mask?: Uint8Array | undefined;
  /** Both or neither; without them the first input's size is kept. */
  width?: number | undefined;
  height?: number | undefined;
  format: ImageFormat;
  label: string;
}

/** A video, 24 frames a second. */
export interface VideoJob {
  kind: "video";
  mode: "text" | "image" | "frames" | "reference" | "extend" | "edit" | "motion";
  prompt: string;
  seed: number;
  /** 1 … 10. `extend`: what is added to the source. `edit` and `motion` last as long as the source video. */
  durationSec: number;
  /** Even. With `extend` and `edit`, 0 × 0 keeps the source's size. */
  width: number;
  height: number;
  /** `image`: the image; `frames`: first and, if wanted, last; `reference`: 1 … 5; `motion`: the image to move. */
  images: Uint8Array[];
  /** `extend`, `edit`: the source; `motion`: the video whose movement is followed. */
  video?: Uint8Array | undefined;
  label: string;
}

export type RenderJob = PictureJob | EditJob | VideoJob;

export interface Rendered {
  bytes: Uint8Array;
  contentType: "image/png" | "image/jpeg" | "image/webp" | "video/mp4";
  width: number;
  height: number;
  durationSec?: number;
}

export interface Renderer {
  /**
   * Renders away from the calling thread. Jobs wait their turn in the order they came.
   *
   * @throws InputInvalidError (`code: "INPUT_INVALID"`) when the job's media cannot be used
   * @throws the signal's reason, at once, when it aborts; any other Error when the worker broke
   */
  render(job: RenderJob, signal: AbortSignal): Promise<Rendered>;
  /** Rejects what waits and what runs, and ends the workers. Idempotent. */
  stop(): Promise<void>;
}

/**
 * The offline renderer. Nothing is started or loaded before the first job; equal jobs give equal bytes.
 * Idle workers do not keep the process alive and end after a while, which gives their memory back.
 *
 * @param options.workers most jobs at once, 2 unless told
 * @param options.idleMs how long a worker without a job is kept, 30 s unless told
 * @param options.workerEntry another worker script, for tests
 */
export function createRenderer(
  options: { workers?: number; idleMs?: number; workerEntry?: string } = {},
): Renderer {
  const pool = createPool({
    size: options.workers ?? 2,
    idleMs: options.idleMs ?? 30_000,
    entry: options.workerEntry ?? defaultEntry(),
  });
  return { render: (job, signal) => pool.run(job, signal), stop: () => pool.stop() };
}

/** In a compiled executable the worker is an entry of its own, found by its path from the project's root. */
function defaultEntry(): string {
  return Bun.isStandaloneExecutable
    ? "./src/providers/sandbox/worker.ts"
    : new URL("./worker.ts", import.meta.url).href;
}
