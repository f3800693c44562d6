import { ALL_FORMATS, BufferSource, Input } from "mediabunny";

/** What a prober says of a video. */
export async function probe(bytes: Uint8Array<ArrayBuffer>) {
  const input = new Input({ source: new BufferSource(bytes), formats: ALL_FORMATS });
  const track = await input.getPrimaryVideoTrack();
  const packets = await track?.computePacketStats();
  return {
    type: await input.getMimeType(),
    codec: track?.codec,
    width: track?.displayWidth,
    height: track?.displayHeight,
    durationSec: await input.computeDuration(),
    frames: packets?.packetCount,
  };
}

/** The top-level boxes of an MP4, in order. */
export function boxesOf(bytes: Uint8Array): string[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const names: string[] = [];
  for (let at = 0; at + 8 <= bytes.length; ) {
    const size = view.getUint32(at);
    names.push(String.fromCharCode(...bytes.subarray(at + 4, at + 8)));
    const length = size === 1 ? Number(view.getBigUint64(at + 8)) : size;
    if (length < 8) break;
    at += length;
  }
  return names;
}
