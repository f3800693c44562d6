import { readFileSync } from "node:fs";
import type { AssetStore, Delivery } from "../domain/ports/asset-store.ts";
import { createSlots } from "../toolkit/slots.ts";
import { checkBytes, checkStream, receiveFile } from "./check.ts";
import type { ContentFiles, FileName } from "./content-files.ts";
import { maskOfOpaque, paintMask, readPaintedMask } from "./decoder.ts";
import { openContentFiles } from "./fs.ts";
import { createKnownContents } from "./known.ts";
import { DECODE_BYTES, DECODE_SLOTS } from "./limits.ts";
import { createPins } from "./pins.ts";
import { createRecentFiles, type RecentFiles } from "./recent.ts";
import { holdStaged, holdStored, removeContent } from "./staging.ts";

interface CheckOptions {
  /** Files decoded at once: two, or one where there is memory for one of the largest alone. */
  readonly decodeSlots?: number | undefined;
  /** Memory for decoding, which is enough for two of the largest pictures unless given. */
  readonly decodeBytes?: number | undefined;
  /** Whether outputs keep the metadata that their maker wrote. */
  readonly keepsOutputMetadata?: boolean | undefined;
  /** Told of a content that nobody needs and that was not removed. */
  readonly onLeft?: ((sha256: string) => void) | undefined;
  /** Other processes store here, too. What is staged and not used is then left to `onLeft`: one of them may be about to use it. */
  readonly isShared?: boolean | undefined;
}

export interface AssetStoreOptions extends CheckOptions {
  /** Created when the first file is stored. */
  readonly directory: string;
  /** Returns an unused file name, a new one at every call. */
  readonly newTemporaryName: () => string;
  /** The time, by which files in use are kept from a collector in another process; without it, they are not. */
  readonly now?: (() => number) | undefined;
}

/** The asset store in a local directory. Touches nothing before the first call. */
export function openAssetStore(options: AssetStoreOptions): AssetStore {
  return createAssetStore(openContentFiles(options), options);
}

/** The asset store wherever its files lie. */
export function createAssetStore(files: ContentFiles, options: CheckOptions): AssetStore {
  const { decodeBytes = DECODE_BYTES, decodeSlots = slotsFor(decodeBytes), onLeft, isShared } = options;
  const [slots, recordings] = [createSlots(decodeSlots), createSlots(decodeSlots)];
  const recent = createRecentFiles();
  const kept = { pins: createPins(), known: createKnownContents(), recent };
  const deps = { files, slots, recordings, decodeBytes, ...kept, onLeft, isShared };

  const stage: AssetStore["stage"] = async (source, given) => {
    const isKept = given.sanitize === "output" && options.keepsOutputMetadata === true;
    const wanted = isKept ? { ...given, sanitize: false } : given;
    const isWhole = source instanceof Uint8Array;
    return holdStaged(
      deps,
      await (isWhole ? checkBytes(deps, source, wanted) : checkStream(deps, source, wanted)),
      wanted,
    );
  };

  const put: AssetStore["put"] = async (source, wanted) => {
    const staged = await stage(source, wanted);
    let isKept = false;
    try {
      await staged.keep();
      isKept = true;
      return staged.file;
    } finally {
      await staged.release(isKept);
    }
  };

  const locate: AssetStore["locate"] = async (file) => files.pathIfThere(file) ?? (await files.bring(file));

  const open: AssetStore["open"] = async (file, { isLazy } = { isLazy: false }) => {
    const path = await locate(file);
    if (path === undefined) return undefined;
    return (isLazy ? undefined : fromMemory(recent, file, path)) ?? Bun.file(path, { type: file.type });
  };

  return {
    stage,
    receive: (given) => receiveFile(deps, (checked) => holdStaged(deps, checked), given),
    put,
    hold: (file) => holdStored(deps, file),
    async removeUnheld(sha256) {
      if (deps.pins.isHeld(sha256)) return false;
      await removeContent(deps, sha256);
      return true;
    },
    renewHeld() {
      for (const file of deps.pins.stored()) files.claim(file);
    },
    open,
    locate,
    deliver: prepareDeliver(files, recent, open),
    paintMask: (mask, paint, owner) => slots.run(() => paintMask(mask, paint), owner),
    maskOfOpaque: (picture, owner) => slots.run(() => maskOfOpaque(picture), owner),
    readPaintedMask: (picture, how, owner) => slots.run(() => readPaintedMask(picture, how), owner),
    removeTemporary: (ageMs) => files.removeTemporary(ageMs),
  };
}

/** Two, where there is memory for two of the largest. */
const slotsFor = (decodeBytes: number): number => (decodeBytes < DECODE_BYTES ? 1 : DECODE_SLOTS);

function prepareDeliver(
  files: ContentFiles,
  recent: RecentFiles,
  open: AssetStore["open"],
): AssetStore["deliver"] {
  return (file, wanted, asked) => {
    if (files.deliver !== undefined)
      return deliverFrom(() => open(file, asked), files.deliver(file, wanted, asked?.isSentFromHere));
    // Named by their content, so that they are right whatever became of their files.
    const kept = asked?.isLazy === true ? undefined : recent.getAs(file.sha256, file.type);
    if (kept !== undefined) return { kind: "content", content: kept };
    const path = files.pathIfThere(file);
    if (path === undefined)
      return open(file, asked).then((content) => content && { kind: "content", content });
    if (wanted === "nothing") return { kind: "present" };
    const content = asked?.isLazy === true ? undefined : fromMemory(recent, file, path);
    return { kind: "content", content: content ?? Bun.file(path, { type: file.type }) };
  };
}

/** Gets what lies elsewhere, in the way that those files have for it. */
async function deliverFrom(
  open: () => Promise<Blob | undefined>,
  delivering: Promise<Delivery | undefined>,
): Promise<Delivery | undefined> {
  const near = await delivering;
  if (near !== undefined) return near;
  const content = await open();
  return content && { kind: "content", content };
}

/** A file in memory. One that is asked for again is read into it. */
function fromMemory(
  recent: RecentFiles,
  { sha256, sizeBytes, type }: FileName,
  path: string,
): Blob | undefined {
  const known = recent.getAs(sha256, type);
  if (known !== undefined) return known;
  if (!recent.isAskedForAgain(sha256, sizeBytes)) return undefined;
  try {
    const bytes = readFileSync(path);
    return bytes.length === sizeBytes ? recent.add(sha256, bytes, type) : undefined;
  } catch {
    // Whoever reads it from disk next is told what is wrong with it.
    return undefined;
  }
}
