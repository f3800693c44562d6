import { createHash } from "node:crypto";
import type { MediaKind, MediaType } from "../domain/media/asset.ts";
import { MEDIA_TYPES } from "../domain/media/asset.ts";
import { MediaError, type PutOptions } from "../domain/ports/asset-store.ts";
import type { Slots } from "../toolkit/slots.ts";
import type { Draft } from "./drafts.ts";
import { readFully } from "./file-window.ts";
import type { ContentFiles } from "./fs.ts";
import { checkImage, type ImageType } from "./image.ts";
import type { KnownContents } from "./known.ts";
import { IMAGE_MAX_BYTES, SNIFF_BYTES, VIDEO_MAX_BYTES } from "./limits.ts";
import { tooLarge } from "./refusals.ts";
import { sniffMediaType } from "./sniff.ts";
import type { CheckedFile } from "./staging.ts";
import { storing } from "./storage-errors.ts";
import { checkVideo, type VideoType } from "./video.ts";

interface Deps {
  readonly known: KnownContents;
  readonly files: ContentFiles;
  readonly slots: Slots;
}

/** Checks a file that is whole in memory. An image stays in memory. @throws MediaError, StorageError */
export async function checkBytes(deps: Deps, source: Uint8Array, options: PutOptions): Promise<CheckedFile> {
  const type = acceptedType(source.subarray(0, SNIFF_BYTES), options.accept);
  if (source.length > limitOf(type, options)) throw tooLarge(limitOf(type, options));
  if (!isImage(type)) {
    return withDraft(deps, async (draft) => {
      await draft.append(source);
      return videoIn(deps, draft, { type, sizeBytes: source.length, sha256: sha256(source) }, options);
    });
  }
  const { sanitize } = options;
  const known = deps.known.get(sha256(source), sanitize);
  if (known !== undefined) return { file: known, content: source, isClean: sanitize };
  const { probe, bytes } = await deps.slots.run(() => checkImage(source, type, sanitize));
  const file = { ...probe, sha256: sha256(bytes), sizeBytes: bytes.length };
  return { file, content: bytes, isClean: sanitize };
}

/** Checks a file in a temporary file while it arrives: slow senders hold no memory. @throws MediaError, StorageError, any of `source` */
export function checkStream(
  deps: Deps,
  source: AsyncIterable<Uint8Array>,
  options: PutOptions,
): Promise<CheckedFile> {
  return withDraft(deps, async (draft) => {
    const arrived = await receive(draft, source, options);
    const { type } = arrived;
    const known = deps.known.get(arrived.sha256, options.sanitize);
    if (known !== undefined) return { file: known, content: draft, isClean: options.sanitize };
    return isImage(type)
      ? imageIn(deps, draft, { ...arrived, type }, options)
      : videoIn(deps, draft, { ...arrived, type }, options);
  });
}

interface Arrived<T extends MediaType> {
  readonly type: T;
  readonly sizeBytes: number;
  readonly sha256: string;
}

/** Writes the stream to the draft. Stops at the first byte over the limit, or once its type turns out to be refused. */
async function receive(
  draft: Draft,
  source: AsyncIterable<Uint8Array>,
  options: PutOptions,
): Promise<Arrived<MediaType>> {
  const hash = createHash("sha256");
  let head: Uint8Array = new Uint8Array(0);
  let type: MediaType | undefined;
  let sizeBytes = 0;
  for await (const chunk of source) {
    sizeBytes += chunk.length;
    if (type === undefined) {
      head = Buffer.concat([head, chunk.subarray(0, SNIFF_BYTES)]);
      if (head.length >= SNIFF_BYTES) type = acceptedType(head, options.accept);
    }
    const limit = type === undefined ? options.maxBytes : limitOf(type, options);
    if (sizeBytes > limit) throw tooLarge(limit);
    hash.update(chunk);
    await draft.append(chunk);
  }
  type ??= acceptedType(head, options.accept);
  return { type, sizeBytes, sha256: hash.digest("hex") };
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
    const { probe, bytes } = await checkImage(whole, arrived.type, options.sanitize);
    const file = { ...probe, sha256: sha256(bytes), sizeBytes: bytes.length };
    const isClean = options.sanitize;
    if (file.sha256 === arrived.sha256) return { file, content: draft, isClean };
    // Removing metadata changed the bytes, so the result needs a file of its own.
    return withDraft(deps, async (clean) => {
      await clean.append(bytes);
      await deps.files.discard(draft);
      return { file, content: clean, isClean };
    });
  });
}

async function videoIn(
  deps: Deps,
  draft: Draft,
  arrived: Arrived<VideoType>,
  options: PutOptions,
): Promise<CheckedFile> {
  const { type, sizeBytes } = arrived;
  const { probe, isChanged } = await deps.slots.run(() =>
    checkVideo(draft.handle, sizeBytes, type, options.sanitize),
  );
  const hash = isChanged ? await sha256OfDraft(draft, sizeBytes) : arrived.sha256;
  return { file: { ...probe, sha256: hash, sizeBytes }, content: draft, isClean: options.sanitize };
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

function acceptedType(head: Uint8Array, accept: readonly MediaKind[]): MediaType {
  if (head.length === 0) throw new MediaError("empty", "is empty");
  const type = sniffMediaType(head);
  if (type === undefined) throw new MediaError("unrecognised", `is not ${expected(accept)}`);
  const { kind } = MEDIA_TYPES[type];
  if (accept.includes(kind)) return type;
  throw new MediaError(
    "wrong_kind",
    `is ${kind === "image" ? "an image" : "a video"}, where ${expected(accept)} is expected`,
  );
}

function expected(accept: readonly MediaKind[]): string {
  const kinds = { image: "a PNG, JPEG or WebP image", video: "an MP4 or WebM video" };
  return accept.map((kind) => kinds[kind]).join(" or ");
}

function limitOf(type: MediaType, options: PutOptions): number {
  return Math.min(options.maxBytes, isImage(type) ? IMAGE_MAX_BYTES : VIDEO_MAX_BYTES);
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
