import {
  type AudioCodec,
  BufferTarget,
  EncodedAudioPacketSource,
  EncodedPacket,
  type MetadataTags,
  Mp3OutputFormat,
  Mp4OutputFormat,
  OggOutputFormat,
  Output,
  type OutputFormat,
  WavOutputFormat,
} from "mediabunny";
import type { AudioType } from "../../src/assets/audio-metadata.ts";
import type { Bytes } from "./media.ts";

interface Made {
  readonly format: () => OutputFormat;
  readonly codec: AudioCodec;
  readonly name: string;
  readonly packet: Bytes;
  readonly packetMs: number;
  readonly sampleRate: number;
  readonly description?: Bytes;
}

/** One frame of silence: MPEG 1, layer 3, 128 kbit/s, 32 kHz. */
const MP3_FRAME = Uint8Array.from({ length: 576 }, (_, i) => [0xff, 0xfb, 0x98, 0xc0][i] ?? 0);
const OPUS_HEAD = new Uint8Array(
  Buffer.concat([Buffer.from("OpusHead"), Buffer.from([1, 1, 0, 0, 0x80, 0xbb, 0, 0, 0, 0, 0])]),
);

const MADE: Record<AudioType, Made> = {
  "audio/wav": {
    ...{ format: () => new WavOutputFormat(), codec: "pcm-s16", name: "pcm-s16", sampleRate: 8_000 },
    ...{ packet: new Uint8Array(1_600), packetMs: 100 },
  },
  "audio/mpeg": {
    ...{ format: () => new Mp3OutputFormat(), codec: "mp3", name: "mp3", sampleRate: 32_000 },
    ...{ packet: MP3_FRAME, packetMs: 36 },
  },
  "audio/mp4": {
    ...{ format: () => new Mp4OutputFormat(), codec: "aac", name: "mp4a.40.2", sampleRate: 48_000 },
    ...{ packet: new Uint8Array(64), packetMs: 100, description: new Uint8Array([0x11, 0x88]) },
  },
  "audio/ogg": {
    ...{ format: () => new OggOutputFormat(), codec: "opus", name: "opus", sampleRate: 48_000 },
    ...{ packet: new Uint8Array([0xfc, 0xff, 0xfe]), packetMs: 20, description: OPUS_HEAD },
  },
};

/** A recording of as many packets of silence. */
export async function audio(
  type: AudioType,
  { packets = 10, tags }: { packets?: number; tags?: MetadataTags } = {},
): Promise<Bytes> {
  const { format, codec, name, packet, packetMs, sampleRate, description } = MADE[type];
  const target = new BufferTarget();
  const output = new Output({ format: format(), target });
  if (tags !== undefined) output.setMetadataTags(tags);
  const track = new EncodedAudioPacketSource(codec);
  output.addAudioTrack(track);
  await output.start();
  const decoderConfig = { codec: name, numberOfChannels: 1, sampleRate, ...(description && { description }) };
  for (let i = 0; i < packets; i += 1) {
    const seconds = packetMs / 1_000;
    await track.add(new EncodedPacket(packet, "key", i * seconds, seconds), { decoderConfig });
  }
  await output.finalize();
  if (target.buffer === null) throw new Error("The recording was not written.");
  return new Uint8Array(target.buffer);
}
