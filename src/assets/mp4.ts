import { erase, type FileWindow } from "./file-window.ts";
import { VIDEO_INDEX_MAX_BYTES, VIDEO_MAX_SAMPLES } from "./limits.ts";
import { damaged } from "./refusals.ts";
import { ascii } from "./sniff.ts";

/** A box of the file: `from` its header, `content` what is in it, `to` its end. */
interface Box {
  readonly type: string;
  readonly from: number;
  readonly content: number;
  readonly to: number;
}

const PARENTS = new Set(["moov", "trak", "mdia", "minf", "stbl", "moof", "traf", "mvex", "edts"]);
/** What is read into memory as a whole, here or by the parser: parents, also where they have no place, and tables beside them. */
const INDEX = new Set([...PARENTS, "sidx", "mfra", "meta"]);
/** User data, iTunes and QuickTime metadata, vendors' boxes: where cameras write the place. */
const METADATA = new Set(["udta", "meta", "uuid"]);
const MAX_BOXES = 100_000;

/**
 * Checks that the boxes of an MP4 file fill it exactly and that its index has a sane size, before a full parser builds tables
 * from it: one 32-bit count in a file of 100 bytes can ask for four thousand million entries.
 *
 * @returns the boxes that hold metadata
 * @throws MediaError
 */
export async function readMp4(file: FileWindow): Promise<Box[]> {
  const metadata: Box[] = [];
  const counts = { boxes: 0, samples: 0, indexBytes: 0, movies: 0 };
  for (let at = 0; at < file.sizeBytes; ) {
    const box = boxAt(await file.read(at, 16), at, file.sizeBytes);
    if (METADATA.has(box.type)) metadata.push(box);
    if (box.type === "moov") counts.movies += 1;
    if (INDEX.has(box.type)) {
      counts.indexBytes += box.to - box.from;
      if (counts.indexBytes > VIDEO_INDEX_MAX_BYTES) throw damaged("its index is too large");
    }
    if (PARENTS.has(box.type)) {
      const bytes = await file.read(box.from, box.to - box.from);
      walkIndex(bytes, box, counts, metadata);
    }
    countBox(counts);
    at = box.to;
  }
  if (counts.movies !== 1) throw damaged("the MP4 has no index");
  return metadata;
}

/** The type of a `uuid` box that holds a C2PA manifest. */
const C2PA = "d8fec3d61b0e483c92975828877ec481";

/** Whether one of the boxes holds a manifest by which the file's maker signs where it comes from. */
export async function isSignedMp4(file: FileWindow, metadata: readonly Box[]): Promise<boolean> {
  for (const { type, content } of metadata) {
    if (type === "uuid" && Buffer.from(await file.read(content, 16)).toString("hex") === C2PA) return true;
  }
  return false;
}

/** Turns metadata boxes into free space of the same size, so that no offset in the file changes. */
export async function eraseMp4Metadata(file: FileWindow, boxes: readonly Box[]): Promise<void> {
  for (const box of boxes) {
    await file.write(box.from + 4, new TextEncoder().encode("free"));
    await erase(file, box.content, box.to);
  }
}

/** Visits the boxes inside one that is in memory. `base.from` is where `bytes` begin in the file. */
function walkIndex(
  bytes: Uint8Array,
  base: Box,
  counts: { boxes: number; samples: number },
  metadata: Box[],
): void {
  const pending: Box[] = [base];
  for (let parent = pending.pop(); parent !== undefined; parent = pending.pop()) {
    for (let at = parent.content; at < parent.to; ) {
      // Some writers end a list of boxes with four zero bytes.
      if (parent.to - at < 8) break;
      const box = boxAt(bytes.subarray(at - base.from, at - base.from + 16), at, parent.to);
      countBox(counts);
      if (METADATA.has(box.type)) metadata.push(box);
      else if (PARENTS.has(box.type)) pending.push(box);
      else counts.samples += samplesIn(box.type, bytes.subarray(box.content - base.from, box.to - base.from));
      if (counts.samples > VIDEO_MAX_SAMPLES) throw damaged("its index is too large");
      at = box.to;
    }
  }
}

/** How many samples a table box speaks of, whether or not it has the bytes for them. */
function samplesIn(type: string, content: Uint8Array): number {
  const view = new DataView(content.buffer, content.byteOffset, content.byteLength);
  const at = (offset: number) => (offset + 4 <= content.length ? view.getUint32(offset) : 0);
  switch (type) {
    case "stts":
    case "ctts": {
      let total = 0;
      for (let offset = 8; offset + 8 <= content.length; offset += 8) total += view.getUint32(offset);
      return Math.max(total, at(4));
    }
    case "stsz":
    case "stz2":
      return at(8);
    case "stsc":
      return Math.max(at(4), largestIn(view));
    case "trun":
    case "stss":
    case "stco":
    case "co64":
      return at(4);
    case "saiz":
    case "saio":
    case "senc":
    case "sbgp":
    case "elst":
    case "tfra":
      return Math.max(at(4), at(8));
    default:
      return 0;
  }
}

/** The largest number of a chunk, or of samples in one: the parser goes through them one by one, whether they are there or not. */
function largestIn(stsc: DataView): number {
  let largest = 0;
  for (let offset = 8; offset + 12 <= stsc.byteLength; offset += 12)
    largest = Math.max(largest, stsc.getUint32(offset), stsc.getUint32(offset + 4));
  return largest;
}

function boxAt(head: Uint8Array, from: number, end: number): Box {
  if (head.length < 8) throw damaged("the MP4 is cut short");
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  const type = ascii(head, 4, 8);
  const small = view.getUint32(0);
  if (small === 1 && head.length < 16) throw damaged("the MP4 is cut short");
  const headerBytes = small === 1 ? 16 : 8;
  const size = small === 1 ? Number(view.getBigUint64(8)) : small === 0 ? end - from : small;
  if (size < headerBytes || from + size > end) throw damaged("the MP4 is cut short");
  return { type, from, content: from + headerBytes, to: from + size };
}

function countBox(counts: { boxes: number }): void {
  counts.boxes += 1;
  if (counts.boxes > MAX_BOXES) throw damaged("the MP4 has too many parts");
}
