import type { FileHandle } from "node:fs/promises";
import type { EncodedPacket, EncodedPacketSink } from "mediabunny";
import type { MediaProbe } from "../domain/media/asset.ts";
import { MediaError } from "../domain/ports/asset-store.ts";
import { StorageError } from "../domain/ports/task-store.ts";
import { isShortage } from "../toolkit/shortage.ts";
import { type AudioType, eraseAudioMetadata } from "./audio-metadata.ts";
import { openWindow } from "./file-window.ts";
import { AUDIO_MAX_DURATION_MS } from "./limits.ts";
import { openMediaInput } from "./media-input.ts";
import { damaged } from "./refusals.ts";

/**
 * Proves that a file is a recording within the limits: a container of its type with sound of a known codec, a first and a last packet,
 * and no pictures that move. Decodes nothing.
 *
 * @param isErased also erases metadata in the file itself, without moving a byte
 * @throws MediaError
 */
export async function checkAudio(
  handle: FileHandle,
  sizeBytes: number,
  type: AudioType,
  isErased: boolean,
): Promise<{ probe: MediaProbe; isChanged: boolean; isClean: boolean }> {
  const isChanged = await eraseAudioMetadata(openWindow(handle, sizeBytes), type, isErased);
  const durationMs = await probe(handle, sizeBytes, type);
  if (!(durationMs > 0)) throw damaged("it has no sound");
  if (durationMs > AUDIO_MAX_DURATION_MS) throw tooLong();
  return { probe: { type, width: 0, height: 0, durationMs }, isChanged, isClean: isErased };
}

function tooLong(): MediaError {
  return new MediaError("too_large", `is longer than ${AUDIO_MAX_DURATION_MS / 60_000} minutes`);
}

/** The last packet. @throws MediaError as soon as one is beyond the longest duration */
async function lastInTime(
  packets: EncodedPacketSink,
  first: EncodedPacket | null,
): Promise<EncodedPacket | null> {
  let last = first;
  for (let packet = first; packet !== null; packet = await packets.getNextPacket(packet)) {
    if (packet.timestamp * 1_000 > AUDIO_MAX_DURATION_MS) throw tooLong();
    last = packet;
  }
  return last;
}

async function probe(handle: FileHandle, sizeBytes: number, type: AudioType): Promise<number> {
  const { media, input } = await openMediaInput(handle, sizeBytes, ({ WAVE, MP3, MP4, OGG }) => {
    const formats = { "audio/wav": WAVE, "audio/mpeg": MP3, "audio/mp4": MP4, "audio/ogg": OGG };
    return [formats[type]];
  });
  try {
    if ((await input.getPrimaryVideoTrack()) !== null)
      throw new MediaError("wrong_kind", "is a video, where a recording of sound is expected");
    const track = await input.getPrimaryAudioTrack();
    if (track === null) throw new MediaError("wrong_kind", "has no sound");
    if ((await track.getCodec()) === null)
      throw new MediaError("unrecognised", "uses an audio codec that is not supported");
    const packets = new media.EncodedPacketSink(track);
    const first = await packets.getFirstPacket();
    // Of this type, all packets before it are looked for, one by one.
    const last = await (type === "audio/mpeg"
      ? lastInTime(packets, first)
      : packets.getPacket(Number.POSITIVE_INFINITY));
    if (first === null || last === null || first.byteLength === 0) throw damaged("it has no sound");
    return Math.round((await track.computeDuration()) * 1_000);
  } catch (error) {
    if (error instanceof MediaError || error instanceof StorageError) throw error;
    if (isShortage(error)) throw new StorageError("busy", "A recording could not be read.", error);
    throw damaged("it cannot be read as a recording", error);
  } finally {
    input.dispose();
  }
}
