import { open } from "node:fs/promises";
import type { MediaProbe } from "../domain/media/asset.ts";
import type { PutOptions } from "../domain/ports/asset-store.ts";
import { checkAudio } from "./audio.ts";
import type { AudioType } from "./audio-metadata.ts";
import { storing } from "./storage-errors.ts";
import { verdictOf } from "./verdict.ts";
import { checkVideo, type VideoType } from "./video.ts";

declare const self: Worker;

/** A video, or sound alone, to be checked in its file. */
export interface RecordingOrder {
  readonly path: string;
  readonly sizeBytes: number;
  readonly type: VideoType | AudioType;
  readonly sanitize: PutOptions["sanitize"];
}

export interface CheckedRecording {
  readonly probe: MediaProbe;
  readonly isChanged: boolean;
  readonly isClean: boolean;
}

// Entry point of a thread that checks one recording: its parser may work for seconds on a file of a few megabytes.
self.onmessage = async ({ data }: MessageEvent<RecordingOrder>): Promise<void> => {
  self.postMessage(await verdictOf(() => check(data)));
};

async function check({ path, sizeBytes, type, sanitize }: RecordingOrder): Promise<CheckedRecording> {
  const handle = await storing(() => open(path, "r+"));
  try {
    return isVideo(type)
      ? await storing(() => checkVideo(handle, sizeBytes, type, sanitize))
      : await storing(() => checkAudio(handle, sizeBytes, type, sanitize !== false));
  } finally {
    await handle.close();
  }
}

function isVideo(type: VideoType | AudioType): type is VideoType {
  return type.startsWith("video/");
}
