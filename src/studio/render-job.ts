/** An image to work on: its bytes, or the path of its file, which is read when its turn comes. */
export type ImageSource = Uint8Array | string;

export type ImageFormat = "png" | "jpeg" | "webp";

interface Job {
  prompt: string;
  seed: number;
  /** Shown small beside the mark, such as a model's name; may be empty. */
  label: string;
}

interface ImageJob extends Job {
  /** Which of several pictures of one request this is; it varies the drawing. */
  index: number;
  format: ImageFormat;
}

/** A new picture from text. */
export interface PictureJob extends ImageJob {
  kind: "picture";
  /** 1 … 4096 */
  width: number;
  height: number;
}

/** A transformation of one or more images. */
export interface EditJob extends ImageJob {
  kind: "edit";
  inputs: ImageSource[];
  /** Of the largest input, where it is known. Decides how many renderings run at once, not what they draw. */
  inputPixels?: number | undefined;
  /** An image with alpha: transparent areas are edited, opaque ones stay as they are. */
  mask?: ImageSource | undefined;
  /** Both or neither; without them the first input's size is kept. */
  width?: number | undefined;
  height?: number | undefined;
  /** Without a size of its own: the longest side the result may have. */
  within?: number | undefined;
}

/** An image made larger. */
export interface EnlargeJob extends ImageJob {
  kind: "enlarge";
  input: ImageSource;
  /** Of the input, where it is known. */
  inputPixels?: number | undefined;
  /** How many times as long each side becomes. */
  factor: number;
}

/** A video, 24 frames a second. */
export interface VideoJob extends Job {
  kind: "video";
  mode: "text" | "image" | "frames" | "reference" | "extend" | "edit" | "motion";
  /** 1 … 10. `extend`: what is added to the source. `edit` and `motion` last as long as the source video. */
  durationSec: number;
  /** Even. With `extend` and `edit`, 0 × 0 keeps the source's size. */
  width: number;
  height: number;
  /** `image`: the image; `frames`: first and, if wanted, last; `reference`: 1 … 5; `motion`: the image to move. */
  images: ImageSource[];
  /** `extend`, `edit`: the source; `motion`: the video whose movement is followed. */
  video?: Uint8Array | undefined;
}

export type RenderJob = PictureJob | EditJob | EnlargeJob | VideoJob;

export interface Rendered {
  bytes: Uint8Array;
  contentType: `image/${ImageFormat}` | "video/mp4";
  width: number;
  height: number;
  durationSec?: number;
}

/** The caller's media cannot be used. `message` is safe to show to the caller. */
export class InputInvalidError extends Error {
  readonly code = "INPUT_INVALID";
  override readonly name = "InputInvalidError";
}
