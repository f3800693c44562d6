import { rmSync } from "node:fs";
import { rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { THUMBNAIL_TYPE, type ThumbnailSize } from "../domain/media/thumbnail.ts";
import { makeFolder } from "./make-folder.ts";

/** Bytes of the checksum (CRC-32) behind each picture, which readers of WebP pass over. */
const CHECK_BYTES = 4;

/** The folder of a content's thumbnails: `<directory>/thumbnails/ab/<64 hexadecimal digits>`. */
function folderOf(directory: string, sha256: string): string {
  return join(directory, "thumbnails", sha256.slice(0, 2), sha256);
}

/** Removes the thumbnails of a content. Synchronous, like the removal of the content. */
export function removeThumbnails(directory: string, sha256: string): void {
  rmSync(folderOf(directory, sha256), { recursive: true, force: true });
}

function pathOf(directory: string, sha256: string, size: ThumbnailSize): string {
  return join(folderOf(directory, sha256), `${size}.webp`);
}

/**
 * Reads a stored thumbnail. One that a power failure damaged counts as none: they are written without a flush, because they can be made
 * again.
 */
export async function readThumbnail(
  directory: string,
  sha256: string,
  size: ThumbnailSize,
): Promise<Blob | undefined> {
  const file = Bun.file(pathOf(directory, sha256, size));
  const bytes = await file.bytes().catch(() => undefined);
  if (bytes === undefined || bytes.length <= CHECK_BYTES) return undefined;
  const picture = bytes.subarray(0, -CHECK_BYTES);
  const check = new DataView(bytes.buffer, bytes.byteOffset + picture.length).getUint32(0);
  return Bun.hash.crc32(picture) === check ? new Blob([picture], { type: THUMBNAIL_TYPE }) : undefined;
}

/**
 * Stores a thumbnail beside the content at `source`, unless that is gone by then: whoever removes a content removes its thumbnails, and
 * must not be followed by a new one.
 *
 * @param name.root exists already
 * @returns whether the content is still there
 */
export async function storeThumbnail(
  { root, sha256, size }: { root: string; sha256: string; size: ThumbnailSize },
  picture: Uint8Array,
  source: string,
): Promise<boolean> {
  const path = pathOf(root, sha256, size);
  const check = new Uint8Array(CHECK_BYTES);
  new DataView(check.buffer).setUint32(0, Bun.hash.crc32(picture));
  const part = `${path}.part`;
  try {
    await makeFolder(dirname(path), root);
    await writeFile(part, Buffer.concat([picture, check]), { mode: 0o600 });
    await rename(part, path);
  } catch {
    // For example because the disk is full: the picture is made again each time until there is room.
    await rm(part, { force: true }).catch(() => undefined);
  }
  if (await isThere(source)) return true;
  removeThumbnails(root, sha256);
  return false;
}

const isThere = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  );
