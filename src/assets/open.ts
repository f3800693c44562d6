import { createHash } from "node:crypto";
import type { MediaKind, MediaProbe, MediaType, StoredFile } from "../domain/asset.ts";
import { MEDIA_TYPES } from "../domain/asset.ts";
import { type AssetStore, MediaError, type PutOptions } from "../domain/ports/asset-store.ts";
import { readFully } from "./file-window.ts";
import { type ContentFiles, type Draft, openContentFiles } from "./fs.ts";
import { checkImage, type ImageType } from "./image.ts";
import { DECODE_SLOTS, IMAGE_MAX_BYTES, SNIFF_BYTES, VIDEO_MAX_BYTES } from "./limits.ts";
import { tooLarge } from "./refusals.ts";
import { createSlots, type Slots } from "./slots.ts";
import { sniffMediaType } from "./sniff.ts";
import { storing } from "./storage-errors.ts";
import { checkVideo, type VideoType } from "./video.ts";

export interface AssetStoreOptions {
  /** Made when the first file is stored. */
  readonly directory: string;
  /** A file name nobody else is using, new at every call. */
  readonly newTemporaryName: () => string;
  /** Files decoded at once. */
  readonly decodeSlots?: number | undefined;
}

interface Deps {
  readonly files: ContentFiles;
  readonly slots: Slots;
}

/** The asset store in a local directory. Nothing of it is touched before the first call. */
export function openAssetStore(options: AssetStoreOptions): AssetStore {
  const files = openContentFiles(options);
  const deps = { files, slots: createSlots(options.decodeSlots ?? DECODE_SLOTS) };
  return {
    put: (source, putOptions) =>
      source instanceof Uint8Array ? putBytes(deps, source, putOptions) : putStream(deps, source, putOptions),
    open: async ({ sha256, sizeBytes, type }) => {
      const found = await files.find(sha256);
      return found?.sizeBytes === sizeBytes ? Bun.file(found.path, { type }) : undefined;
    },
    removeTemporary: () => files.removeTemporary(),
  };
}

async function putBytes(deps: Deps, source: Uint8Array, options: PutOptions): Promise<StoredFile> {
  const type = acceptedType(source.subarray(0, SNIFF_BYTES), options.accept);
  if (source.length > limitOf(type, options)) throw tooLarge(limitOf(type, options));
  if (isImage(type)) return putImage(deps, source, type, options);
  return withDraft(deps, async (draft) => {
    await draft.append(source);
    return keepVideo(deps, draft, { type, sizeBytes: source.length, sha256: sha256(source) }, options);
  });
}

/** A stream goes to a temporary file as it comes, so that slow senders hold no memory. */
function putStream(deps: Deps, source: AsyncIterable<Uint8Array>, options: PutOptions): Promise<StoredFile> {
  return withDraft(deps, async (draft) => {
    const arrived = await receive(draft, source, options);
    if (!isImage(arrived.type)) return keepVideo(deps, draft, { ...arrived, type: arrived.type }, options);
    const { type, sizeBytes } = arrived;
    const { probe, bytes } = await deps.slots.run(async () => {
      const file = await storing(() => readFully(draft.handle, 0, sizeBytes));
      return checkImage(file, type, options.sanitize);
    });
    // Whatever was taken away makes the file shorter, or another one.
    if (sha256(bytes) !== arrived.sha256) return storeBytes(deps, bytes, probe);
    await deps.files.keep(draft, arrived.sha256, sizeBytes);
    return { ...probe, sha256: arrived.sha256, sizeBytes };
  });
}

interface Arrived<T extends MediaType> {
  readonly type: T;
  readonly sizeBytes: number;
  readonly sha256: string;
}

/** Writes the stream to the draft, giving up at the first byte too many or as soon as its type is known to be refused. */
async function receive(
  draft: Draft,
  source: AsyncIterable<Uint8Array>,
  options: PutOptions,
): Promise<Arrived<MediaType>> {
  const hash = createHash("sha256");
  let head = new Uint8Array(0);
  let type: MediaType | undefined;
  let sizeBytes = 0;
  for await (const chunk of source) {
    sizeBytes += chunk.length;
    if (type === undefined) {
      head = joined(head, chunk.subarray(0, SNIFF_BYTES));
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

async function putImage(
  deps: Deps,
  source: Uint8Array,
  type: ImageType,
  options: PutOptions,
): Promise<StoredFile> {
  const { probe, bytes } = await deps.slots.run(() => checkImage(source, type, options.sanitize));
  return storeBytes(deps, bytes, probe);
}

async function storeBytes(deps: Deps, bytes: Uint8Array, probe: MediaProbe): Promise<StoredFile> {
  const hash = sha256(bytes);
  if (!(await deps.files.isKept(hash, bytes.length))) {
    await withDraft(deps, async (draft) => {
      await draft.append(bytes);
      await deps.files.keep(draft, hash, bytes.length);
    });
  }
  return { ...probe, sha256: hash, sizeBytes: bytes.length };
}

async function keepVideo(
  deps: Deps,
  draft: Draft,
  arrived: Arrived<VideoType>,
  options: PutOptions,
): Promise<StoredFile> {
  const { type, sizeBytes } = arrived;
  const { probe, isChanged } = await deps.slots.run(() =>
    checkVideo(draft.handle, sizeBytes, type, options.sanitize),
  );
  const hash = isChanged ? await sha256OfDraft(draft, sizeBytes) : arrived.sha256;
  await deps.files.keep(draft, hash, sizeBytes);
  return { ...probe, sha256: hash, sizeBytes };
}

/** Whatever happens, the temporary file is gone afterwards: kept under its hash, or removed. */
async function withDraft<T>(deps: Deps, work: (draft: Draft) => Promise<T>): Promise<T> {
  const draft = await deps.files.draft();
  try {
    return await work(draft);
  } finally {
    await deps.files.discard(draft);
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
  const kinds = {
    image: "a PNG, JPEG or WebP image",
    video: "an MP4 or WebM video",
  } as const satisfies Record<MediaKind, string>;
  return accept.map((kind) => kinds[kind]).join(" or ");
}

function limitOf(type: MediaType, options: PutOptions): number {
  return Math.min(options.maxBytes, isImage(type) ? IMAGE_MAX_BYTES : VIDEO_MAX_BYTES);
}

function isImage(type: MediaType): type is ImageType {
  return MEDIA_TYPES[type].kind === "image";
}

function joined(head: Uint8Array, chunk: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(head.length + chunk.length);
  bytes.set(head);
  bytes.set(chunk, head.length);
  return bytes;
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
