import type { AccountId, AssetId, FileId, TaskId } from "../ids.ts";

/** Media types that are stored and served as themselves; anything else is refused on the way in. */
export const MEDIA_TYPES = {
  "image/png": { extension: "png", kind: "image" },
  "image/jpeg": { extension: "jpg", kind: "image" },
  "image/webp": { extension: "webp", kind: "image" },
  "image/gif": { extension: "gif", kind: "image" },
  "image/svg+xml": { extension: "svg", kind: "image" },
  "video/mp4": { extension: "mp4", kind: "video" },
  "video/webm": { extension: "webm", kind: "video" },
  "audio/wav": { extension: "wav", kind: "audio" },
  "audio/mpeg": { extension: "mp3", kind: "audio" },
  "audio/mp4": { extension: "m4a", kind: "audio" },
  "audio/ogg": { extension: "ogg", kind: "audio" },
} as const;
export type MediaType = keyof typeof MEDIA_TYPES;
export type MediaKind = (typeof MEDIA_TYPES)[MediaType]["kind"];

export const MEDIA_KINDS = ["image", "video", "audio"] as const satisfies readonly MediaKind[];

export function isMediaType(text: string): text is MediaType {
  return Object.hasOwn(MEDIA_TYPES, text);
}

/** Types of still pictures, of which one can be made of another. */
export const STILL_TYPES = ["image/png", "image/jpeg", "image/webp"] as const satisfies readonly MediaType[];
export type StillType = (typeof STILL_TYPES)[number];

/** Types that providers make and that callers cannot give. */
const OUTPUT_ONLY = ["image/gif", "image/svg+xml"] as const satisfies readonly MediaType[];
export type InputType = Exclude<MediaType, (typeof OUTPUT_ONLY)[number]>;

/** Whether callers may give files of this type. */
export function isInputType(type: MediaType): type is InputType {
  return !(OUTPUT_ONLY as readonly MediaType[]).includes(type);
}

// The keys of the table are the types.
export const INPUT_TYPES = (Object.keys(MEDIA_TYPES) as MediaType[]).filter(isInputType);

/** What reading a file found it to be. Its name and the type its sender claims do not count. */
export interface MediaProbe {
  readonly type: MediaType;
  /** In pixels; 0 for sound recordings. For a drawing (SVG), the size at which browsers show it. */
  readonly width: number;
  readonly height: number;
  /** Videos, recordings and GIFs of several frames only. */
  readonly durationMs?: number | undefined;
  /** Images only: whether pixels can be transparent. Known for a file that was just read, but not for one stored earlier. */
  readonly hasAlpha?: boolean | undefined;
}

/** A file in the content-addressed store: equal bytes are one file. */
export interface StoredFile extends MediaProbe {
  /** Lower-case hexadecimal. */
  readonly sha256: string;
  readonly sizeBytes: number;
}

/** A stored file as one task's input or output. The id is what its URL shows. */
export interface Asset extends StoredFile {
  readonly id: AssetId;
  readonly accountId: AccountId;
  readonly taskId: TaskId;
  readonly role: "input" | "output";
  /** Position among the task's inputs or outputs, from 0. */
  readonly index: number;
  readonly createdAt: number;
}

/** Path of a stored file below its origin: `/assets/asset_….png`, of an uploaded one `/assets/file_….png`. */
export function assetPath(asset: { readonly id: AssetId | FileId; readonly type: MediaType }): string {
  return `/assets/${asset.id}.${MEDIA_TYPES[asset.type].extension}`;
}
