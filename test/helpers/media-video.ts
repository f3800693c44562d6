import {
  BufferTarget,
  EncodedAudioPacketSource,
  EncodedPacket,
  EncodedVideoPacketSource,
  type MetadataTags,
  MkvOutputFormat,
  Mp4OutputFormat,
  Output,
  WebMOutputFormat,
} from "mediabunny";
import { type Bytes, picture } from "./media.ts";

export interface VideoOptions {
  readonly width?: number;
  readonly height?: number;
  readonly frames?: number;
  readonly framesPerSecond?: number;
  readonly tags?: MetadataTags;
  /** A track of sound beside the pictures. */
  readonly sound?: "opus" | "vorbis";
  /** MP4: the index first (`true`), last, or in fragments. */
  readonly fastStart?: "in-memory" | "fragmented" | false;
}

export function mp4(options: VideoOptions = {}): Promise<Bytes> {
  return mux(new Mp4OutputFormat({ fastStart: options.fastStart ?? "in-memory" }), options);
}

export function webm(options: VideoOptions & { isLive?: boolean } = {}): Promise<Bytes> {
  return mux(new WebMOutputFormat({ appendOnly: options.isLive ?? false }), options);
}

export function mkv(options: VideoOptions = {}): Promise<Bytes> {
  return mux(new MkvOutputFormat(), options);
}

/** A lossy WebP image is one VP8 key frame; a few of them are a video. */
async function mux(format: Mp4OutputFormat | MkvOutputFormat, options: VideoOptions): Promise<Bytes> {
  const { width = 64, height = 48, frames = 8, framesPerSecond = 8 } = options;
  const frame = vp8Frame(await picture(width, height).webp({ quality: 40, effort: 0 }).toBuffer());
  const target = new BufferTarget();
  const output = new Output({ format, target });
  if (options.tags !== undefined) output.setMetadataTags(options.tags);
  const track = new EncodedVideoPacketSource("vp8");
  output.addVideoTrack(track, { frameRate: framesPerSecond });
  const sound = options.sound && new EncodedAudioPacketSource(options.sound);
  if (sound !== undefined) output.addAudioTrack(sound);
  await output.start();
  for (let i = 0; i < frames; i += 1) {
    const packet = new EncodedPacket(frame, "key", i / framesPerSecond, 1 / framesPerSecond);
    await track.add(packet, { decoderConfig: { codec: "vp8", codedWidth: width, codedHeight: height } });
  }
  for (let i = 0; sound !== undefined && i < frames; i += 1) {
    const packet = new EncodedPacket(SILENCE, "key", i / framesPerSecond, 1 / framesPerSecond);
    await sound.add(packet, { decoderConfig: soundConfig(options.sound) });
  }
  await output.finalize();
  if (target.buffer === null) throw new Error("The video was not written.");
  return new Uint8Array(target.buffer);
}

/** A packet of Opus in which nobody speaks. Nothing here decodes it. */
const SILENCE = new Uint8Array([0xf8, 0xff, 0xfe]);

function soundConfig(codec: VideoOptions["sound"]) {
  const config = { codec: codec ?? "opus", sampleRate: 48_000, numberOfChannels: 2 };
  // Three headers of one byte each; their lengths come first.
  return codec === "vorbis" ? { ...config, description: new Uint8Array([2, 1, 1, 1, 3, 5]) } : config;
}

function vp8Frame(webp: Buffer): Bytes {
  const at = webp.indexOf("VP8 ", 12, "latin1");
  return new Uint8Array(webp.subarray(at + 8, at + 8 + webp.readUInt32LE(at + 4)));
}
