import { MEDIA_TYPES } from "../../domain/media/asset.ts";
import { THUMBNAIL_TYPE, type ThumbnailSize, type WithoutThumbnail } from "../../domain/media/thumbnail.ts";
import type { AssetStore } from "../../domain/ports/asset-store.ts";
import type { PicturedFile, Thumbnail, Thumbnails } from "../../domain/ports/thumbnails.ts";
import { createSlots } from "../../toolkit/slots.ts";
import type { FileName } from "../content-files.ts";
import { readThumbnail } from "../thumbnail-files.ts";
import type { DrawnCell } from "./sheet.ts";
import { createSheets } from "./sheets.ts";
import { Thread, type ThreadOptions } from "./thread.ts";
import type { Made } from "./worker.ts";

/** Thumbnails of one account that may be waited for at once: more than a page shows, and what the thread makes in some five seconds. */
const MOST_OF_ACCOUNT = 256;
/** Those of all accounts. */
const MOST_WAITED_FOR = 2_048;
/** Files of which it is remembered that they have none. */
const MOST_REFUSED = 10_000;

export interface ThumbnailOptions extends ThreadOptions {
  /** The folder of the asset store. */
  readonly directory: string;
  readonly assets: Pick<AssetStore, "locate">;
}

/**
 * Thumbnails in a folder beside the files, made by a thread of low priority, one after the other, and spritesheets by another one.
 * Accounts take turns, however many each waits for. Touches nothing before the first call.
 */
export function openThumbnails(options: ThumbnailOptions): Thumbnails & { stop(): Promise<void> } {
  const { directory, assets } = options;
  // A spritesheet may take half a minute, and nobody's smaller pictures wait for that.
  const [pictures, spritesheets] = [openLine(options), openLine(options)];
  const lineOf = (size: ThumbnailSize) => (size === "spritesheet" ? spritesheets : pictures);
  const waitedFor = new Map<string, Promise<Thumbnail>>();
  const waiting = new Map<string, number>();
  const refused = createRefused();
  let isStopped = false;

  async function make(file: FileName, size: ThumbnailSize): Promise<Thumbnail> {
    if (isStopped) return { kind: "busy" };
    const source = await assets.locate(file);
    if (source === undefined) return { kind: "gone" };
    const order = { root: directory, sha256: file.sha256, type: file.type, size, source };
    const made: Made = await lineOf(size).thread.make(order);
    if (made.kind === "none") refused.add(triedAs(file, size), made.why);
    return asThumbnail(made);
  }

  async function draw(cells: readonly DrawnCell[]): Promise<Thumbnail> {
    return isStopped ? { kind: "busy" } : asThumbnail(await pictures.thread.make({ cells }));
  }

  async function inTurn(file: PicturedFile, size: ThumbnailSize): Promise<Thumbnail> {
    const { accountId: owner = "" } = file;
    const others = waiting.get(owner) ?? 0;
    if (others >= MOST_OF_ACCOUNT || waitedFor.size >= MOST_WAITED_FOR) return { kind: "busy" };
    waiting.set(owner, others + 1);
    const name = `${file.sha256} ${size}`;
    const making = lineOf(size)
      .turns.run(() => make(file, size), owner)
      .finally(() => {
        waitedFor.delete(name);
        const left = (waiting.get(owner) ?? 1) - 1;
        if (left === 0) waiting.delete(owner);
        else waiting.set(owner, left);
      });
    waitedFor.set(name, making);
    return making;
  }

  async function read(file: PicturedFile, size: ThumbnailSize): Promise<Thumbnail> {
    if (MEDIA_TYPES[file.type].kind === "audio") return { kind: "none", why: "sound" };
    const known = refused.get(triedAs(file, size));
    if (known !== undefined) return { kind: "none", why: known };
    const stored = await readThumbnail(directory, file.sha256, size);
    if (stored !== undefined) return { kind: "picture", content: stored };
    return waitedFor.get(`${file.sha256} ${size}`) ?? inTurn(file, size);
  }

  return {
    read,
    sheet: createSheets(read, (cells, owner) => pictures.turns.run(() => draw(cells), owner)),
    async stop() {
      isStopped = true;
      await Promise.all([pictures.thread.stop(), spritesheets.thread.stop()]);
    },
  };
}

function openLine(options: ThreadOptions) {
  return { thread: new Thread(options), turns: createSlots(1) };
}

function asThumbnail(made: Made): Thumbnail {
  if (made.kind !== "picture") return made;
  // Safe: the bytes were handed over by the thread, and nobody else has them.
  const content = new Blob([made.bytes as Uint8Array<ArrayBuffer>], { type: THUMBNAIL_TYPE });
  return { kind: "picture", content };
}

/** What is not tried again together: a video may have a first picture, and take too long for all others. */
function triedAs({ sha256 }: FileName, size: ThumbnailSize): string {
  return size === "spritesheet" ? `${sha256} ${size}` : sha256;
}

/** Remembers files that have no thumbnail, so that each is tried once. */
function createRefused() {
  const whys = new Map<string, WithoutThumbnail>();
  return {
    get: (name: string) => whys.get(name),
    add(name: string, why: WithoutThumbnail): void {
      const oldest = whys.size < MOST_REFUSED ? undefined : whys.keys().next().value;
      if (oldest !== undefined) whys.delete(oldest);
      whys.set(name, why);
    },
  };
}
