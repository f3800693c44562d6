import type { FileHandle } from "node:fs/promises";
import type { MediaProbe } from "../domain/media/asset.ts";
import { MediaError, type PutOptions } from "../domain/ports/asset-store.ts";
import { StorageError } from "../domain/ports/task-store.ts";
import { isShortage } from "../toolkit/shortage.ts";
import { openWindow } from "./file-window.ts";
import { VIDEO_MAX_DURATION_MS, VIDEO_MAX_SIDE } from "./limits.ts";
import { openMediaInput } from "./media-input.ts";
import { eraseMp4Metadata, isSignedMp4, readMp4 } from "./mp4.ts";
import { damaged, tooManyPixels } from "./refusals.ts";
import { eraseWebmMetadata, readWebm } from "./webm.ts";

export type VideoType = "video/mp4" | "video/webm";
type VideoProbe = MediaProbe & { readonly durationMs: number };

/**
 * Proves that a file is a video within the limits: a whole container, a video track of a known codec, and its first and last
 * frame. Decodes no frames.
 *
 * @param sanitize also erases metadata (places, tags, attachments) in the file itself, without moving a byte, unless it is an output that is
 *   signed
 * @throws MediaError
 */
export async function checkVideo(
  handle: FileHandle,
  sizeBytes: number,
  type: VideoType,
  sanitize: PutOptions["sanitize"],
): Promise<{ probe: MediaProbe; isChanged: boolean; isClean: boolean }> {
  const file = openWindow(handle, sizeBytes);
  let isClean = sanitize !== false;
  let isChanged = false;
  if (type === "video/mp4") {
    const metadata = await readMp4(file);
    if (sanitize === "output") isClean = !(await isSignedMp4(file, metadata));
    isChanged = isClean && metadata.length > 0;
    if (isChanged) await eraseMp4Metadata(file, metadata);
  } else {
    const metadata = await readWebm(file);
    isChanged = isClean && metadata.length > 0;
    if (isChanged) await eraseWebmMetadata(file, metadata);
  }
  const found = await probe(handle, sizeBytes, type);
  refuseLarge(found);
  return { probe: found, isChanged, isClean };
}

async function probe(handle: FileHandle, sizeBytes: number, type: VideoType): Promise<VideoProbe> {
  const { media, input } = await openMediaInput(handle, sizeBytes, ({ MP4, WEBM }) => [
    type === "video/mp4" ? MP4 : WEBM,
  ]);
  try {
    const track = await input.getPrimaryVideoTrack();
    if (track === null) throw new MediaError("wrong_kind", "has no picture track");
    if ((await track.getCodec()) === null)
      throw new MediaError("unrecognised", "uses a video codec that is not supported");
    const frames = new media.EncodedPacketSink(track);
    const first = await frames.getFirstPacket();
    const last = await frames.getPacket(Number.POSITIVE_INFINITY);
    if (first === null || last === null || first.byteLength === 0) throw damaged("it has no frames");
    return {
      type,
      width: await track.getDisplayWidth(),
      height: await track.getDisplayHeight(),
      durationMs: Math.round((await track.computeDuration()) * 1_000),
    };
  } catch (error) {
    if (error instanceof MediaError || error instanceof StorageError) throw error;
    if (isShortage(error)) throw new StorageError("busy", "A video could not be read.", error);
    throw damaged("it cannot be read as a video", error);
  } finally {
    input.dispose();
  }
}

function refuseLarge({ width, height, durationMs }: VideoProbe): void {
  if (!(width > 0 && height > 0 && durationMs > 0)) throw damaged("it has no frames");
  if (Math.max(width, height) > VIDEO_MAX_SIDE)
    throw tooManyPixels(width, height, `${VIDEO_MAX_SIDE} a side`);
  if (durationMs > VIDEO_MAX_DURATION_MS) {
    throw new MediaError("too_large", `is longer than ${VIDEO_MAX_DURATION_MS / 60_000} minutes`);
  }
}
