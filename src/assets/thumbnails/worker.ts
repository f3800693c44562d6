import { MEDIA_TYPES, type MediaType } from "../../domain/media/asset.ts";
import type { ThumbnailSize, WithoutThumbnail } from "../../domain/media/thumbnail.ts";
import { giveWay } from "../../toolkit/low-priority.ts";
import { isShortage } from "../../toolkit/shortage.ts";
import { storeThumbnail } from "../thumbnail-files.ts";
import { shrinkImage } from "./picture.ts";
import { shrinkVideo } from "./poster.ts";
import { type DrawnCell, drawSheet } from "./sheet.ts";
import { drawSprites } from "./sprites.ts";

declare const self: Worker;

/** What is to be made: a thumbnail, or a contact sheet. */
export type Order = ThumbnailOrder | { readonly cells: readonly DrawnCell[] };

/** One thumbnail to make. */
export interface ThumbnailOrder {
  /** The folder of the asset store. */
  readonly root: string;
  readonly sha256: string;
  readonly type: MediaType;
  readonly size: ThumbnailSize;
  /** The content on this machine. */
  readonly source: string;
}

/** A worker's answer, exactly one for each order. */
export type Made =
  | { readonly kind: "picture"; readonly bytes: Uint8Array }
  | { readonly kind: "none"; readonly why: WithoutThumbnail }
  | { readonly kind: "gone" }
  /** Memory or files are short at present. */
  | { readonly kind: "busy" };

/** Requests come first, and so does what is paid for. Applies to this thread alone, where the system has priorities of threads. */
const NICENESS = 10;

// Entry point of the thread that makes thumbnails: one order in, one answer out.
self.onmessage = async ({ data }: MessageEvent<Order>): Promise<void> => {
  giveWay(NICENESS);
  const made = await ("cells" in data ? draw(data.cells) : make(data));
  if (made.kind === "picture") self.postMessage(made, [made.bytes.buffer as ArrayBuffer]);
  else self.postMessage(made);
};

async function draw(cells: readonly DrawnCell[]): Promise<Made> {
  try {
    return { kind: "picture", bytes: await drawSheet(cells) };
  } catch (error) {
    return isShortage(error) ? { kind: "busy" } : { kind: "none", why: "damaged" };
  }
}

/** @returns undefined for a codec that is not decoded here, and for a spritesheet of an image */
async function pictureOf({ source, type, size }: ThumbnailOrder): Promise<Uint8Array | undefined> {
  const isVideo = MEDIA_TYPES[type].kind === "video";
  if (size === "spritesheet") return isVideo ? drawSprites(source) : undefined;
  return isVideo ? shrinkVideo(source, size) : shrinkImage(source, size);
}

async function make(order: ThumbnailOrder): Promise<Made> {
  const { source } = order;
  try {
    const picture = await pictureOf(order);
    if (picture === undefined) return { kind: "none", why: "codec" };
    const isThere = await storeThumbnail(order, picture, source);
    return isThere ? { kind: "picture", bytes: picture } : { kind: "gone" };
  } catch (error) {
    if (isShortage(error)) return { kind: "busy" };
    return (await Bun.file(source).exists()) ? { kind: "none", why: "damaged" } : { kind: "gone" };
  }
}
