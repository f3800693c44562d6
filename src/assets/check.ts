import { createHash } from "node:crypto";
import type { MediaKind, MediaType } from "../domain/media/asset.ts";
import { isInputType, MEDIA_TYPES } from "../domain/media/asset.ts";
import {
  type ArrivingFile,
  MediaError,
  type PutOptions,
  type StagedFile,
} from "../domain/ports/asset-store.ts";
import { article } from "../domain/words/say.ts";
import { freeMemory } from "../toolkit/free-memory.ts";
import type { Slots } from "../toolkit/slots.ts";
import type { AudioType } from "./audio-metadata.ts";
import type { ContentFiles } from "./content-files.ts";
import type { Draft } from "./drafts.ts";
import { checkRecordingInThread } from "./file-thread.ts";
import { readFully } from "./file-window.ts";
import { checkImage, type ImageType } from "./image.ts";
import { type KnownContents, knownAs } from "./known.ts";
import { AUDIO_MAX_BYTES, IMAGE_MAX_BYTES, SNIFF_BYTES, SVG_MAX_BYTES, VIDEO_MAX_BYTES } from "./limits.ts";
import { tooLarge } from "./refusals.ts";
import { sniffMediaType } from "./sniff.ts";
import type { CheckedFile } from "./staging.ts";
import { storing } from "./storage-errors.ts";
import type { VideoType } from "./video.ts";

/** A file of no more bytes needs no temporary file while it arrives. */
const SMALL_BYTES = 16 * 1024;

interface Deps {
  readonly known: KnownContents;
  readonly files: ContentFiles;
  /** For images. */
  readonly slots: Slots;
  /** For recordings, which may take long, so that no image waits for them. */
  readonly recordings: Slots;
  /** Memory for an image that is decoded as a whole. */
  readonly decodeBytes: number;
}

/** Checks a file that is whole in memory. An image stays in memory. @throws MediaError, StorageError */
export async function checkBytes(deps: Deps, source: Uint8Array, options: PutOptions): Promise<CheckedFile> {
  const type = acceptedType(source.subarray(0, SNIFF_BYTES), options);
  if (source.length > limitOf(type, options)) throw tooLarge(limitOf(type, options));
  if (!isImage(type)) {
    return withDraft(deps, async (draft) => {
      await draft.append(source);
      return recordingIn(deps, draft, { type, sizeBytes: source.length, sha256: sha256(source) }, options);
    });
  }
  const { owner } = options;
  const mustBeClean = options.sanitize !== false;
  const known = knownAs(deps.known, sha256(source), type, options);
  if (known !== undefined) return { file: known, content: source, isClean: mustBeClean };
  const { probe, bytes, isClean } = await deps.slots.run(
    () => checkImage(source, type, { ...options, decodeBytes: deps.decodeBytes }),
    owner,
  );
  const file = { ...probe, sha256: sha256(bytes), sizeBytes: bytes.length };
  return { file, content: bytes, isClean };
}

/**
 * Checks a file while it arrives: one of a few kilobytes in memory, any other in a temporary file, so that slow senders hold no more.
 * @throws MediaError, StorageError, any of `source`
 */
export async function checkStream(
  deps: Deps,
  source: AsyncIterable<Uint8Array>,
  options: PutOptions,
): Promise<CheckedFile> {
  const first: Uint8Array[] = [];
  let firstBytes = 0;
  let arrival: Arrival | undefined;
  try {
    for await (const chunk of source) {
      const isBeginning = firstBytes < SNIFF_BYTES;
      firstBytes += chunk.length;
      if (arrival === undefined && firstBytes <= SMALL_BYTES) {
        // The sender may reuse its memory as soon as it is asked for more.
        first.push(new Uint8Array(chunk));
        // An unusable file is given up as soon as that is known.
        if (isBeginning && firstBytes >= SNIFF_BYTES)
          acceptedType(Buffer.concat(first, SNIFF_BYTES), options);
        continue;
      }
      arrival ??= createArrival(await deps.files.draft());
      for (const each of [...first.splice(0), chunk]) await appendWithin(arrival, each, options);
    }
    if (arrival !== undefined) return await checkArrival(deps, arrival, options);
  } catch (error) {
    if (arrival !== undefined) await deps.files.discard(arrival.draft);
    throw error;
  }
  return checkBytes(deps, Buffer.concat(first), options);
}

/** @throws MediaError as soon as the beginning or the size is refused */
async function appendWithin(arrival: Arrival, chunk: Uint8Array, options: PutOptions): Promise<void> {
  const { head, sizeBytes } = await arrival.append(chunk);
  const type = head.length < SNIFF_BYTES ? undefined : acceptedType(head, options);
  const limit = type === undefined ? mostOf(options) : limitOf(type, options);
  if (sizeBytes > limit) throw tooLarge(limit);
}

/**
 * Receives a file that is checked once it is whole, by the options that are known then.
 * @param early options by which it is refused as soon as its beginning or its size is
 * @throws StorageError
 */
export async function receiveFile(
  deps: Deps,
  hold: (checked: CheckedFile) => StagedFile,
  early: PutOptions | undefined,
): Promise<ArrivingFile> {
  const draft = await deps.files.draft();
  const arrival = createArrival(draft);
  let isStaged = false;
  return {
    append: async (bytes) =>
      early === undefined ? void (await arrival.append(bytes)) : appendWithin(arrival, bytes, early),
    sha256: arrival.sha256,
    async *read(pieceBytes) {
      const { sizeBytes } = arrival.state();
      for (let at = 0; at < sizeBytes; at += pieceBytes) {
        yield await storing(() => readFully(draft.handle, at, Math.min(pieceBytes, sizeBytes - at)));
      }
    },
    async stage(options) {
      isStaged = true;
      try {
        return hold(await checkArrival(deps, arrival, options));
      } catch (error) {
        await deps.files.discard(draft);
        throw error;
      }
    },
    discard: async () => (isStaged ? undefined : deps.files.discard(draft)),
  };
}

async function checkArrival(deps: Deps, arrival: Arrival, options: PutOptions): Promise<CheckedFile> {
  const { draft } = arrival;
  const { head, sizeBytes } = arrival.state();
  const type = acceptedType(head, options);
  if (sizeBytes > limitOf(type, options)) throw tooLarge(limitOf(type, options));
  const sha256 = arrival.sha256();
  const mustBeClean = options.sanitize !== false;
  const known = knownAs(deps.known, sha256, type, options);
  if (known !== undefined) return { file: known, content: draft, isClean: mustBeClean };
  return isImage(type)
    ? imageIn(deps, draft, { type, sizeBytes, sha256 }, options)
    : recordingIn(deps, draft, { type, sizeBytes, sha256 }, options);
}

interface Arrived<T extends MediaType> {
  readonly type: T;
  readonly sizeBytes: number;
  readonly sha256: string;
}

type Arrival = ReturnType<typeof createArrival>;

/** Writes what arrives to the draft, and tells its beginning, its size and its hash. */
function createArrival(draft: Draft) {
  const hash = createHash("sha256");
  let digest: string | undefined;
  let head: Uint8Array = new Uint8Array(0);
  let sizeBytes = 0;
  const state = () => ({ head, sizeBytes });
  return {
    draft,
    state,
    async append(chunk: Uint8Array) {
      // First: what could not be written has not arrived, and may be sent again.
      await draft.append(chunk);
      sizeBytes += chunk.length;
      if (head.length < SNIFF_BYTES) head = Buffer.concat([head, chunk.subarray(0, SNIFF_BYTES)]);
      hash.update(chunk);
      return state();
    },
    /** To be asked when all has arrived. */
    sha256: () => (digest ??= hash.digest("hex")),
  };
}

/** Holds the whole picture in memory only while it has its slot. */
function imageIn(
  deps: Deps,
  draft: Draft,
  arrived: Arrived<ImageType>,
  options: PutOptions,
): Promise<CheckedFile> {
  return deps.slots.run(async () => {
    const whole = await storing(() => readFully(draft.handle, 0, arrived.sizeBytes));
    const done = [whole];
    try {
      const given = { ...options, decodeBytes: deps.decodeBytes };
      const { probe, bytes, isClean } = await checkImage(whole, arrived.type, given);
      done.push(bytes);
      const hash = bytes === whole ? arrived.sha256 : sha256(bytes);
      const file = { ...probe, sha256: hash, sizeBytes: bytes.length };
      if (file.sha256 === arrived.sha256) return { file, content: draft, isClean };
      // Removing metadata changed the bytes, so the result needs a file of its own.
      return await withDraft(deps, async (clean) => {
        await clean.append(bytes);
        await deps.files.discard(draft);
        return { file, content: clean, isClean };
      });
    } finally {
      done.forEach(freeMemory);
    }
  }, options.owner);
}

/** A video, or sound alone. */
async function recordingIn(
  deps: Deps,
  draft: Draft,
  arrived: Arrived<VideoType | AudioType>,
  options: PutOptions,
): Promise<CheckedFile> {
  const { type, sizeBytes } = arrived;
  const { path } = draft;
  const { probe, isChanged, isClean } = await deps.recordings.run(
    () => checkRecordingInThread({ path, sizeBytes, type, sanitize: options.sanitize }),
    options.owner,
  );
  const hash = isChanged ? await sha256OfDraft(draft, sizeBytes) : arrived.sha256;
  return { file: { ...probe, sha256: hash, sizeBytes }, content: draft, isClean };
}

/** Creates a draft. The result owns it; without a result it is removed. */
async function withDraft(deps: Deps, work: (draft: Draft) => Promise<CheckedFile>): Promise<CheckedFile> {
  const draft = await deps.files.draft();
  try {
    return await work(draft);
  } catch (error) {
    await deps.files.discard(draft);
    throw error;
  }
}

function acceptedType(head: Uint8Array, { accept, isOutput = false }: PutOptions): MediaType {
  if (head.length === 0) throw new MediaError("empty", "is empty");
  const sniffed = sniffMediaType(head);
  // Both are the same container, whose brand need not tell them apart.
  const isSoundAlone = sniffed === "video/mp4" && accept.includes("audio") && !accept.includes("video");
  const type = isSoundAlone ? "audio/mp4" : sniffed;
  const wanted = expected(accept, isOutput);
  if (type === undefined) throw new MediaError("unrecognised", `is not ${wanted}`);
  const { kind, extension } = MEDIA_TYPES[type];
  if (!isOutput && !isInputType(type)) {
    const what = `is of a type that cannot be given (${extension.toUpperCase()})`;
    throw new MediaError("unrecognised", `${what}, where ${wanted} is expected`);
  }
  if (accept.includes(kind)) return type;
  throw new MediaError("wrong_kind", `is ${article(kind)}, where ${wanted} is expected`);
}

function expected(accept: readonly MediaKind[], isOutput: boolean): string {
  const kinds = {
    image: isOutput ? "a PNG, JPEG, WebP, GIF or SVG image" : "a PNG, JPEG or WebP image",
    video: "an MP4 or WebM video",
    audio: "a WAV, MP3, M4A or Ogg recording",
  };
  return accept.map((kind) => kinds[kind]).join(" or ");
}

function limitOf(type: MediaType, options: PutOptions): number {
  const most = { image: IMAGE_MAX_BYTES, video: VIDEO_MAX_BYTES, audio: AUDIO_MAX_BYTES };
  const { kind } = MEDIA_TYPES[type];
  const { maxBytes } = options;
  const given = typeof maxBytes === "number" ? maxBytes : maxBytes[kind];
  return Math.min(given, type === "image/svg+xml" ? SVG_MAX_BYTES : most[kind]);
}

/** The limit of a file of which no type is known yet. */
function mostOf({ maxBytes }: PutOptions): number {
  return typeof maxBytes === "number" ? maxBytes : Math.max(...Object.values(maxBytes));
}

function isImage(type: MediaType): type is ImageType {
  return MEDIA_TYPES[type].kind === "image";
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

async function sha256OfDraft(draft: Draft, sizeBytes: number): Promise<string> {
  const hash = createHash("sha256");
  const step = 1024 * 1024;
  for (let at = 0; at < sizeBytes; at += step) {
    hash.update(await storing(() => readFully(draft.handle, at, Math.min(step, sizeBytes - at))));
  }
  return hash.digest("hex");
}
