import type { FileHandle } from "node:fs/promises";
import type { MediaProbe } from "../domain/media/asset.ts";
import { MediaError } from "../domain/ports/asset-store.ts";
import { openWindow, readFully } from "./file-window.ts";
import { VIDEO_MAX_DURATION_MS, VIDEO_MAX_SIDE } from "./limits.ts";
import { eraseMp4Metadata, readMp4 } from "./mp4.ts";
import { damaged, tooManyPixels } from "./refusals.ts";
import { eraseWebmMetadata, readWebm } from "./webm.ts";

export type VideoType = "video/mp4" | "video/webm";
type VideoProbe = MediaProbe & { readonly durationMs: number };

/**
 * Proves that a file is a video within the limits: a whole container, a video track of a known codec, and its first and last
 * frame. Decodes no frames.
 *
 * @param sanitize also erases metadata (places, tags, attachments) in the file itself, without moving a byte
 * @throws MediaError
 */
export async function checkVideo(
  handle: FileHandle,
  sizeBytes: number,
  type: VideoType,
  sanitize: boolean,
): Promise<{ probe: MediaProbe; isChanged: boolean }> {
  const file = openWindow(handle, sizeBytes);
  let isChanged = false;
  if (type === "video/mp4") {
    const metadata = await readMp4(file);
    isChanged = sanitize && metadata.length > 0;
    if (isChanged) await eraseMp4Metadata(file, metadata);
  } else {
    const metadata = await readWebm(file);
    isChanged = sanitize && metadata.length > 0;
    if (isChanged) await eraseWebmMetadata(file, metadata);
  }
  const found = await probe(handle, sizeBytes, type);
  refuseLarge(found);
  return { probe: found, isChanged };
}

async function probe(handle: FileHandle, sizeBytes: number, type: VideoType): Promise<VideoProbe> {
  const media = await import("mediabunny");
  media.Logging.level = media.LogLevel.Silent;
  const input = new media.Input({
    formats: [type === "video/mp4" ? media.MP4 : media.WEBM],
    source: new media.CustomSource({
      getSize: () => sizeBytes,
      read: (start, end) => readFully(handle, start, end - start),
      maxCacheSize: 4 * 1024 * 1024,
      // The read that needs those bytes reports the same error.
      handleUnhandledError: () => undefined,
    }),
  });
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
    throw error instanceof MediaError ? error : damaged("it cannot be read as a video", error);
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
