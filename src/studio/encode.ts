import type { H264MP4Encoder } from "h264-mp4-encoder";
import type { Frame } from "./sprite.ts";

/** Every video of the sandbox has this rate. */
export const FRAMES_PER_SECOND = 24;

/** BT.709, limited range: what `sprite.ts` converts to, written into the file so that players agree. */
const COLOUR_SPACE = { primaries: "bt709", transfer: "bt709", matrix: "bt709", fullRange: false } as const;

/**
 * Encodes frames as H.264 in a fast-start MP4. Equal frames give equal bytes. One frame is alive at a time: `draw` fills it once
 * per picture, in order; what it throws is passed on.
 */
export async function encodeVideo(
  video: { frame: Frame; frameCount: number },
  draw: (index: number) => void | Promise<void>,
): Promise<Uint8Array> {
  const { createH264MP4Encoder } = (await import("h264-mp4-encoder")).default;
  const encoder: H264MP4Encoder = await createH264MP4Encoder();
  let isOpen = false;
  try {
    encoder.width = video.frame.width;
    encoder.height = video.frame.height;
    encoder.frameRate = FRAMES_PER_SECOND;
    encoder.quantizationParameter = 27;
    encoder.speed = 10;
    encoder.groupOfPictures = FRAMES_PER_SECOND * 2;
    encoder.initialize();
    isOpen = true;
    for (let index = 0; index < video.frameCount; index++) {
      const drawing = draw(index);
      if (drawing !== undefined) await drawing;
      encoder.addFrameYuv(video.frame.bytes);
    }
    encoder.finalize();
    isOpen = false;
    return await remux(encoder.FS.readFile(encoder.outputFilename));
  } finally {
    // The WebAssembly module keeps the encoder's files in memory until they are deleted, and an encoder left open warns on the console.
    if (isOpen) encoder.finalize();
    encoder.FS.unlink(encoder.outputFilename);
    encoder.delete();
  }
}

/** Moves the index to the front, tags the colours and removes the clock from the file. */
async function remux(mp4: Uint8Array): Promise<Uint8Array> {
  const media = await import("mediabunny");
  const input = new media.Input({ source: new media.BufferSource(mp4), formats: [media.MP4] });
  const track = await input.getPrimaryVideoTrack();
  const config = await track?.getDecoderConfig();
  if (track === null || !config) throw new Error("The encoder produced no video track.");
  const target = new media.BufferTarget();
  const output = new media.Output({ format: new media.Mp4OutputFormat({ fastStart: "in-memory" }), target });
  const source = new media.EncodedVideoPacketSource("avc");
  output.addVideoTrack(source, { frameRate: FRAMES_PER_SECOND });
  await output.start();
  let index = 0;
  for await (const packet of new media.EncodedPacketSink(track).packets()) {
    // The encoder's own file calls every picture a key picture, which would make seeking land on broken ones.
    const type = isKeyPicture(packet.data) ? "key" : "delta";
    const timed = packet.clone({
      type,
      timestamp: index / FRAMES_PER_SECOND,
      duration: 1 / FRAMES_PER_SECOND,
    });
    await source.add(timed, { decoderConfig: { ...config, colorSpace: COLOUR_SPACE } });
    index++;
  }
  await output.finalize();
  if (target.buffer === null) throw new Error("The multiplexer produced no file.");
  const bytes = new Uint8Array(target.buffer);
  clearTimes(bytes, 0, bytes.length);
  return bytes;
}

/** Whether a length-prefixed access unit holds an IDR slice (NAL unit type 5). */
function isKeyPicture(accessUnit: Uint8Array): boolean {
  const view = new DataView(accessUnit.buffer, accessUnit.byteOffset, accessUnit.byteLength);
  for (let at = 0; at + 5 <= accessUnit.length; at += 4 + view.getUint32(at)) {
    if ((view.getUint8(at + 4) & 31) === 5) return true;
  }
  return false;
}

const CONTAINERS = new Set(["moov", "trak", "mdia"]);
const TIMED = new Set(["mvhd", "tkhd", "mdhd"]);

/** Zeroes creation and modification times, which would make equal videos differ by the second of their making. */
function clearTimes(bytes: Uint8Array, start: number, end: number): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = start; at + 8 <= end; ) {
    const size = view.getUint32(at);
    const type = String.fromCharCode(...bytes.subarray(at + 4, at + 8));
    if (size < 8) return;
    if (CONTAINERS.has(type)) clearTimes(bytes, at + 8, at + size);
    if (TIMED.has(type)) bytes.fill(0, at + 12, at + 12 + (bytes[at + 8] === 1 ? 16 : 8));
    at += size;
  }
}
