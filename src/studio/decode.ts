import type { InputVideoTrack } from "mediabunny";
import type { DecoderModule } from "tinyh264/es/TinyH264.js";
import { InputInvalidError } from "./render-job.ts";
import { createFrame, type Frame } from "./sprite.ts";

const LONGEST_SEC = 60;
const LARGEST_SIDE = 4096;

/** A source video the caller sent. */
export interface SourceVideo {
  /** Displayed size, rounded down to even numbers. */
  readonly width: number;
  readonly height: number;
  readonly durationSec: number;
  /** Pictures in display order, each valid until the next is asked for. Absent for any codec but H.264 baseline. */
  readonly pictures?: () => AsyncGenerator<SourcePicture, void>;
}

export interface SourcePicture {
  /** The time at which the next picture replaces this one. */
  readonly untilSec: number;
  readonly frame: Frame;
}

/** Opens a video. @throws InputInvalidError when it is damaged, longer than a minute or larger than 4096 pixels */
export async function openSource(bytes: Uint8Array): Promise<SourceVideo> {
  const media = await import("mediabunny");
  const input = new media.Input({ source: new media.BufferSource(bytes), formats: media.ALL_FORMATS });
  const facts = await (async () => {
    const track = await input.getPrimaryVideoTrack();
    if (track === null) throw new InputInvalidError("The source video has no video track.");
    return { track, durationSec: await track.computeDuration(), baseline: await isBaseline(track) };
  })().catch((cause: unknown) => {
    if (cause instanceof InputInvalidError) throw cause;
    throw new InputInvalidError("The source video could not be read: it is damaged or not a video.", {
      cause,
    });
  });
  const { track, durationSec } = facts;
  const width = track.displayWidth & ~1;
  const height = track.displayHeight & ~1;
  if (!(durationSec > 0) || width < 2 || height < 2)
    throw new InputInvalidError("The source video is empty.");
  if (durationSec > LONGEST_SEC) {
    throw new InputInvalidError(
      `The source video must be at most ${LONGEST_SEC} seconds, got ${durationSec.toFixed(1)}.`,
    );
  }
  if (Math.max(width, height) > LARGEST_SIDE) {
    throw new InputInvalidError(
      `The source video must be at most ${LARGEST_SIDE} pixels a side, got ${width}×${height}.`,
    );
  }
  const facing = { width, height, durationSec };
  const upright = track.rotation === 0 && track.displayWidth === track.codedWidth;
  return facts.baseline && upright && (await startsDecoding(track))
    ? { ...facing, pictures: () => decode(track) }
    : facing;
}

/**
 * The pictures of a video in display order, each valid until the next is asked for.
 *
 * @returns undefined for any codec but H.264 baseline, for a video that is turned or not shown as it is coded, and for one too large
 */
export async function plainPictures(
  track: InputVideoTrack,
): Promise<AsyncGenerator<SourcePicture, void> | undefined> {
  const { displayWidth, codedWidth, codedHeight } = track;
  const isPlain = track.rotation === 0 && displayWidth === codedWidth;
  const isSmall = Math.max(codedWidth, codedHeight) <= LARGEST_SIDE;
  if (!isPlain || !isSmall || Math.min(displayWidth, codedHeight) < 2 || !(await isBaseline(track)))
    return undefined;
  return decode(track);
}

/** The first picture of a video. @returns undefined where `plainPictures` does */
export async function firstPicture(track: InputVideoTrack): Promise<Frame | undefined> {
  for await (const { frame } of (await plainPictures(track)) ?? []) return frame;
  return undefined;
}

async function isBaseline(track: InputVideoTrack): Promise<boolean> {
  const codec = track.codec === "avc" ? await track.getCodecParameterString() : null;
  return codec?.startsWith("avc1.42") ?? false;
}

/** Decodes the first picture, because nothing else reliably tests a decoder this small. */
async function startsDecoding(track: InputVideoTrack): Promise<boolean> {
  for await (const _picture of decode(track)) return true;
  return false;
}

async function* decode(track: InputVideoTrack): AsyncGenerator<SourcePicture, void> {
  const media = await import("mediabunny");
  const config = await track.getDecoderConfig();
  if (!config?.description) return;
  const record = config.description;
  const description = ArrayBuffer.isView(record)
    ? new Uint8Array(record.buffer, record.byteOffset, record.byteLength)
    : new Uint8Array(record);
  const lengthSize = ((description[4] ?? 3) & 3) + 1;
  let ready: { i420: Uint8Array; width: number } | undefined;
  const decoder = await createDecoder((i420, width) => {
    ready = { i420, width };
  });
  try {
    decoder.decode(annexB(parameterSets(description)));
    const frame = createFrame(track.displayWidth & ~1, track.displayHeight & ~1);
    for await (const packet of new media.EncodedPacketSink(track).packets()) {
      ready = undefined;
      const accessUnit = annexB(splitUnits(packet.data, lengthSize));
      if (accessUnit.length > 1_048_576) return;
      decoder.decode(accessUnit);
      const picture = ready as { i420: Uint8Array; width: number } | undefined;
      if (picture === undefined) continue;
      crop(picture.i420, picture.width, frame);
      yield { untilSec: packet.timestamp + packet.duration, frame };
    }
  } finally {
    decoder.release();
  }
}

let decoderModule: Promise<DecoderModule> | undefined;

async function createDecoder(onPicture: (i420: Uint8Array, width: number) => void) {
  // The package is written for browser workers and reads `self.location` once while it starts.
  if (!("location" in globalThis)) {
    Object.defineProperty(globalThis, "location", { value: { href: "blob:" }, configurable: true });
  }
  const { default: start } = await import("tinyh264/es/TinyH264.js");
  const { default: Decoder } = await import("tinyh264/es/TinyH264Decoder.js");
  decoderModule ??= start();
  const module = await decoderModule;
  const decoder = new Decoder(module, onPicture);
  return {
    decode: (accessUnit: Uint8Array): void => decoder.decode(accessUnit),
    release: (): void => {
      decoder.release();
      // `release` forgets its input buffer; the module outlives the decoder, so it would add up.
      module._free(decoder._decBuffer);
    },
  };
}

/** The decoder's pictures are whole macroblocks wide and high; the rest is padding. */
function crop(i420: Uint8Array, codedWidth: number, frame: Frame): void {
  const codedHeight = (i420.length * 2) / 3 / codedWidth;
  const planes = [
    { from: 0, stride: codedWidth, to: frame.y, width: frame.width },
    { from: codedWidth * codedHeight, stride: codedWidth / 2, to: frame.u, width: frame.width / 2 },
    { from: codedWidth * codedHeight * 1.25, stride: codedWidth / 2, to: frame.v, width: frame.width / 2 },
  ];
  for (const { from, stride, to, width } of planes) {
    for (let row = 0; row * width < to.length; row++) {
      const start = from + row * stride;
      to.set(i420.subarray(start, start + width), row * width);
    }
  }
}

/** Sequence and picture parameter sets of an `avcC` record. */
function parameterSets(record: Uint8Array): Uint8Array[] {
  const units: Uint8Array[] = [];
  let at = 5;
  for (const mask of [31, 255]) {
    for (let count = (record[at++] ?? 0) & mask; count > 0; count--) {
      const length = ((record[at] ?? 0) << 8) | (record[at + 1] ?? 0);
      units.push(record.subarray(at + 2, at + 2 + length));
      at += 2 + length;
    }
  }
  return units;
}

function splitUnits(packet: Uint8Array, lengthSize: number): Uint8Array[] {
  const units: Uint8Array[] = [];
  for (let at = 0; at + lengthSize <= packet.length; ) {
    let length = 0;
    for (let i = 0; i < lengthSize; i++) length = length * 256 + (packet[at + i] ?? 0);
    units.push(packet.subarray(at + lengthSize, at + lengthSize + length));
    at += lengthSize + length;
  }
  return units;
}

const START_CODE = Uint8Array.of(0, 0, 0, 1);

function annexB(units: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(units.flatMap((unit) => [START_CODE, unit]));
}
