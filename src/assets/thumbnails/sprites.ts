import type { InputVideoTrack } from "mediabunny";
import type { OverlayOptions } from "sharp";
import { SPRITES } from "../../domain/media/thumbnail.ts";
import { plainPictures } from "../../studio/decode.ts";
import { IMAGE_DECODE_SECONDS } from "../limits.ts";
import { openSharp } from "./picture.ts";
import { rgbOf, webpOf, withTrack } from "./poster.ts";

/** One picture of a sheet, small enough for it. */
interface Sprite {
  readonly data: Buffer;
  readonly width: number;
  readonly height: number;
}

/**
 * The spritesheet of a video: pictures at equal distances, row by row, without gaps. Fewer where the video has fewer pictures; of VP8
 * only those that are whole by themselves.
 *
 * @returns undefined for a codec that is not decoded here
 * @throws Error when the file cannot be read as a video
 */
export function drawSprites(path: string): Promise<Uint8Array | undefined> {
  return withTrack(path, async (track) => {
    const sprites = track.codec === "vp8" ? await ofKeyFrames(track) : await ofPictures(track);
    return sprites === undefined || sprites.length === 0 ? undefined : compose(sprites);
  });
}

/** The times to show, each in the middle of its share of the video. */
async function timesOf(track: InputVideoTrack): Promise<number[]> {
  const durationSec = await track.computeDuration();
  return Array.from({ length: SPRITES.most }, (_, i) => ((i + 0.5) * durationSec) / SPRITES.most);
}

async function ofPictures(track: InputVideoTrack): Promise<Sprite[] | undefined> {
  const pictures = await plainPictures(track);
  if (pictures === undefined) return undefined;
  const times = await timesOf(track);
  const sprites: Sprite[] = [];
  for await (const { untilSec, frame } of pictures) {
    let isShown = false;
    for (; times[0] !== undefined && times[0] < untilSec; times.shift()) isShown = true;
    const { width, height } = frame;
    const raw = { width, height, channels: 3 } as const;
    if (isShown) sprites.push(await shrink((sharp) => sharp(rgbOf(frame), { raw })));
    if (times.length === 0) break;
  }
  return sprites;
}

async function ofKeyFrames(track: InputVideoTrack): Promise<Sprite[]> {
  const { EncodedPacketSink } = await import("mediabunny");
  const sink = new EncodedPacketSink(track);
  const sprites: Sprite[] = [];
  let shownSec: number | undefined;
  for (const time of await timesOf(track)) {
    const packet = (await sink.getKeyPacket(time)) ?? (await sink.getFirstPacket());
    if (packet === null || packet.timestamp === shownSec) continue;
    shownSec = packet.timestamp;
    sprites.push(await shrink((sharp) => sharp(webpOf(packet.data))));
  }
  return sprites;
}

type Sharp = Awaited<ReturnType<typeof openSharp>>;

async function shrink(open: (sharp: Sharp) => ReturnType<Sharp>): Promise<Sprite> {
  const { data, info } = await open(await openSharp())
    .timeout({ seconds: IMAGE_DECODE_SECONDS })
    .resize({ width: SPRITES.sidePx, height: SPRITES.sidePx, fit: "inside", withoutEnlargement: true })
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  return { data, width: info.width, height: info.height };
}

/** All have the size of the first, since they are of one video. */
async function compose(sprites: readonly Sprite[]): Promise<Uint8Array> {
  const sharp = await openSharp();
  const [{ width, height } = { width: 1, height: 1 }] = sprites;
  const columns = Math.min(SPRITES.columns, sprites.length);
  const rows = Math.ceil(sprites.length / columns);
  const layers = sprites.map(
    (sprite, i): OverlayOptions => ({
      ...{ input: sprite.data, raw: { width: sprite.width, height: sprite.height, channels: 3 } },
      ...{ left: (i % columns) * width, top: Math.floor(i / columns) * height },
    }),
  );
  const size = { width: columns * width, height: rows * height };
  const sheet = sharp({ create: { ...size, channels: 3, background: "#000" } }).composite(layers);
  return new Uint8Array(await sheet.webp({ quality: 80, effort: 0 }).toBuffer());
}
