import type { Palette } from "./palette.ts";
import type { Random } from "./random.ts";
import type { VideoJob } from "./render-job.ts";
import type { Frame } from "./sprite.ts";
import type { Size } from "./stage.ts";

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
