import { createHash } from "node:crypto";
import { rm } from "node:fs/promises";
import type { StoredContents } from "../../domain/ports/stored-contents.ts";
import { openStoredContents } from "../contents.ts";
import { type FolderFiles, openContentFiles } from "../fs.ts";
import { SNIFF_BYTES } from "../limits.ts";
import { type Found, inFolder, type Move, type Moved, moveEach } from "../moving.ts";
import { sniffMediaType } from "../sniff.ts";
import { hashIn } from "./contents.ts";
import { inBucket, isAbsence } from "./errors.ts";
import type { Objects } from "./objects.ts";
import { base64Of } from "./write.ts";

export interface MoveOptions {
  /** The folder of the files on this machine. */
  readonly directory: string;
  readonly newTemporaryName: () => string;
  readonly objects: Objects;
  readonly to: "s3" | "folder";
  /** Moves nothing; the result tells what would be moved. */
  readonly isTrial: boolean;
  /** Leaves each file in the old place, too. */
  readonly isCopy?: boolean | undefined;
  /** Called after each file, with how many there were so far. */
  readonly onFile: (files: number) => void;
}

/**
 * Moves files between the folder and the bucket, beside whatever reads and stores them: each is whole in the new place, found right by
 * its hash, before it leaves the old one. It may be ended at any point and run again.
 *
 * @throws StorageError; what was moved until then stays moved
 */
export function moveContents(options: MoveOptions): Promise<Moved> {
  const { to, objects, directory } = options;
  const folder = openStoredContents(directory);
  const move = to === "s3" ? upload(folder, options) : download(folder, options);
  return moveEach(to === "s3" ? inFolder(folder) : inObjects(objects), move, options);
}

async function* inObjects(objects: Objects): AsyncGenerator<Found> {
  const all = objects.all();
  for (;;) {
    const { done, value } = await inBucket(() => all.next());
    if (done === true) return;
    yield value;
  }
}

function upload(folder: StoredContents, options: MoveOptions): Move {
  const { directory, newTemporaryName, objects, isCopy = false } = options;
  const local = openContentFiles({ directory, newTemporaryName });
  return async (sha256, sizeBytes) => {
    const path = (await local.find(sha256))?.path;
    // Somebody deleted its task meanwhile.
    if (path === undefined) return true;
    if ((await folder.rehash(sha256)) !== sha256) return false;
    // A copy that was cut off finds again what it has copied.
    if (isCopy && (await inBucket(() => isStored(objects, sha256, sizeBytes)))) return true;
    const file = Bun.file(path);
    const read = (at: number, length: number) => file.slice(at, at + length).bytes();
    const type = sniffMediaType(await read(0, SNIFF_BYTES)) ?? "application/octet-stream";
    const source = { sha256, sizeBytes, type, read };
    await inBucket(async () => {
      const outcome = await objects.put(source, { isNew: true });
      const isRight = await isStored(objects, sha256, sizeBytes);
      if (isRight) return;
      // What was there before is not this file.
      if (outcome === "there") await objects.put(source, { isNew: false });
      if (!(await isStored(objects, sha256, sizeBytes)))
        throw new Error(`The bucket has other bytes at ${objects.keyOf(sha256)} than were sent.`);
    });
    if (!isCopy) await rm(path, { force: true });
    return true;
  };
}

/** Whether the bucket has the file: by the checksum that the service found, or else by reading it. */
async function isStored(objects: Objects, sha256: string, sizeBytes: number): Promise<boolean> {
  const head = await objects.head(sha256);
  if (head?.sizeBytes !== sizeBytes) return false;
  if (head.checksum !== undefined) return head.checksum === base64Of(sha256);
  return (await hashIn(objects, sha256)) === sha256;
}

function download(folder: StoredContents, options: MoveOptions): Move {
  const { directory, newTemporaryName, objects, isCopy = false } = options;
  const local = openContentFiles({ directory, newTemporaryName });
  return async (sha256) => {
    const isHere = (await folder.rehash(sha256)) === sha256;
    const outcome = isHere ? "stored" : await inBucket(() => bring(local, objects, sha256));
    if (outcome === "damaged") return false;
    if (outcome === "stored" && !isCopy) await inBucket(() => objects.remove(sha256));
    return true;
  };
}

async function bring(
  local: FolderFiles,
  objects: Objects,
  sha256: string,
): Promise<"stored" | "gone" | "damaged"> {
  const draft = await local.draft();
  try {
    const hash = createHash("sha256");
    let sizeBytes = 0;
    for await (const piece of objects.read(sha256)) {
      hash.update(piece);
      sizeBytes += piece.length;
      await draft.append(piece);
    }
    if (hash.digest("hex") !== sha256) return "damaged";
    // The type plays no part in a folder.
    await local.keep(draft, { sha256, sizeBytes, type: "image/png" });
    return "stored";
  } catch (error) {
    if (isAbsence(error)) return "gone";
    throw error;
  } finally {
    await local.discard(draft);
  }
}
