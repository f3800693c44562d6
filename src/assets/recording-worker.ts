import { open } from "node:fs/promises";
import type { MediaProbe } from "../domain/media/asset.ts";
import { MediaError, type PutOptions } from "../domain/ports/asset-store.ts";
import { StorageError } from "../domain/ports/task-store.ts";
import { giveWay } from "../toolkit/low-priority.ts";
import { checkAudio } from "./audio.ts";
import type { AudioType } from "./audio-metadata.ts";
import { storing } from "./storage-errors.ts";
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

export type RecordingResult =
  | { readonly kind: "checked"; readonly recording: CheckedRecording }
  | { readonly kind: "refused"; readonly reason: MediaError["reason"]; readonly message: string }
  | { readonly kind: "unstored"; readonly problem: StorageError["kind"]; readonly message: string };

/** Requests come first. Applies to this thread alone, where the system has priorities of threads. */
const NICENESS = 5;

// Entry point of a thread that checks one recording: its parser may work for seconds on a file of a few megabytes.
self.onmessage = async ({ data }: MessageEvent<RecordingOrder>): Promise<void> => {
  giveWay(NICENESS);
  self.postMessage(await resultOf(data));
};

async function resultOf(order: RecordingOrder): Promise<RecordingResult> {
  try {
    return { kind: "checked", recording: await check(order) };
  } catch (error) {
    if (error instanceof MediaError) return { kind: "refused", reason: error.reason, message: error.message };
    if (error instanceof StorageError)
      return { kind: "unstored", problem: error.kind, message: error.message };
    throw error;
  }
}

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
