import { erase, type FileWindow } from "./file-window.ts";
import { WEBM_CLUSTER_MAX_BYTES, WEBM_INDEX_MAX_BYTES } from "./limits.ts";
import { damaged } from "./refusals.ts";

interface Element {
  readonly id: number;
  readonly from: number;
  readonly content: number;
  /** undefined while recording: the element lasts until something that cannot be inside it. */
  readonly to: number | undefined;
}

const EBML = 0x1a45dfa3;
const SEGMENT = 0x18538067;
const CLUSTER = 0x1f43b675;
const INFO = 0x1549a966;
const TRACKS = 0x1654ae6b;
const TRACK = 0xae;
/** What holds others that are looked at one by one. */
const PARENTS: ReadonlySet<number> = new Set([SEGMENT, INFO, TRACKS, TRACK]);
/** https://www.rfc-editor.org/rfc/rfc9559 (checked 2026-11-23) */
const METADATA: ReadonlySet<number> = new Set([
  ...[0x1254c367, 0x1941a469, 0x1043a770], // Tags, Attachments, Chapters
  ...[0x7ba9, 0x7384, 0x3c83ab, 0x3e83bb, 0x4461], // of Info: Title, names of files, DateUTC
  0x536e, // of a track: Name
]);
/** What the parser reads as a whole, besides clusters: SeekHead, Info, Tracks, Cues, Tags, Attachments. */
const INDEX: ReadonlySet<number> = new Set([0x114d9b74, INFO, TRACKS, 0x1c53bb6b, 0x1254c367, 0x1941a469]);
/** A checksum of what is beside it, which is wrong once that is erased. */
const CHECKSUM = 0xbf;
const VOID = 0xec;
/** Each frame of a recording is one element. */
const MAX_ELEMENTS = 1_000_000;

/** Checks that the elements of a WebM file end where the file does. @returns those that hold metadata @throws MediaError */
export async function readWebm(file: FileWindow): Promise<Element[]> {
  const metadata: Element[] = [];
  const checksums: Element[] = [];
  let hasSegment = false;
  let elements = 0;
  let indexBytes = 0;
  let clusterAt: number | undefined;
  for (let at = 0; at < file.sizeBytes; ) {
    const element = elementAt(await file.read(at, 12), at);
    elements += 1;
    if (elements > MAX_ELEMENTS) throw damaged("the WebM has too many parts");
    if (at === 0 ? element.id !== EBML : element.id === EBML) throw damaged("the WebM has no valid header");
    if (element.to !== undefined && element.to > file.sizeBytes) throw damaged("the WebM is cut short");
    if (element.to === undefined && element.id !== SEGMENT && element.id !== CLUSTER) {
      throw damaged("a part of the WebM has no length");
    }
    if (element.id === SEGMENT) hasSegment = true;
    if (INDEX.has(element.id)) indexBytes += (element.to ?? at) - at;
    if (indexBytes > WEBM_INDEX_MAX_BYTES) throw damaged("its index is too large");
    if (element.id === CLUSTER || INDEX.has(element.id)) clusterAt = element.id === CLUSTER ? at : undefined;
    if (clusterAt !== undefined && (element.to ?? at) - clusterAt > WEBM_CLUSTER_MAX_BYTES)
      throw damaged("a part of it is too large");
    // One that is still being recorded goes on with its parts.
    if (element.id === CLUSTER && element.to !== undefined) clusterAt = undefined;
    if (METADATA.has(element.id)) metadata.push(element);
    if (element.id === CHECKSUM) checksums.push(element);
    at = PARENTS.has(element.id) || element.to === undefined ? element.content : element.to;
  }
  if (!hasSegment) throw damaged("the WebM has no content");
  return metadata.length === 0 ? [] : [...metadata, ...checksums];
}

/** Turns metadata elements into void ones of the same size, so that no offset in the file changes. */
export async function eraseWebmMetadata(file: FileWindow, elements: readonly Element[]): Promise<void> {
  for (const { from, to } of elements) {
    if (to === undefined) continue;
    // An id and a length of a byte or more leave room for Void, whose id is one byte.
    const total = to - from;
    const isShort = total < 16;
    const header = new Uint8Array(isShort ? 2 : 9);
    header[0] = VOID;
    if (isShort) header[1] = 0x80 | (total - 2);
    else {
      new DataView(header.buffer).setBigUint64(1, BigInt(total - 9));
      header[1] = 0x01;
    }
    await file.write(from, header);
    await erase(file, from + header.length, to);
  }
}

/** Reads one id and one length; https://www.rfc-editor.org/rfc/rfc8794 (checked 2026-11-21). */
function elementAt(head: Uint8Array, from: number): Element {
  const idBytes = Math.clz32(head[0] ?? 0) - 23;
  const lengthBytes = Math.clz32(head[idBytes] ?? 0) - 23;
  const headerBytes = idBytes + lengthBytes;
  if (idBytes > 4 || lengthBytes > 8 || headerBytes > head.length) throw damaged("the WebM is cut short");
  let id = 0;
  for (const byte of head.subarray(0, idBytes)) id = id * 256 + byte;
  let length = (head[idBytes] ?? 0) & (0xff >> lengthBytes);
  let isUnknown = length === 0xff >> lengthBytes;
  for (const byte of head.subarray(idBytes + 1, headerBytes)) {
    length = length * 256 + byte;
    isUnknown &&= byte === 0xff;
  }
  const content = from + headerBytes;
  return { id, from, content, to: isUnknown ? undefined : content + length };
}
