import { renameSync, statSync } from "node:fs";
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Judge, StoredContents } from "../domain/ports/stored-contents.ts";
import { SHA256 } from "./content-files.ts";
import { openFolders } from "./content-folders.ts";
import { makeFolder } from "./make-folder.ts";
import { errorCode, storing } from "./storage-errors.ts";
import { removeThumbnails } from "./thumbnail-files.ts";

const FOLDER = /^[0-9a-f]{2}$/;
const PIECE_BYTES = 1024 * 1024;
/** Of one folder, told at once. */
const MOST_NAMES = 1_000;

/** The contents of a local folder, as `openContentFiles` stores them. Touches nothing before the first call. */
export function openStoredContents(directory: string): StoredContents {
  const { pathOf, earlierPathOf } = openFolders(directory);
  const aside = join(directory, "leaving");
  const placesOf = (sha256: string) => [pathOf(sha256), earlierPathOf(sha256)];

  /** This takes two steps: a rename cannot depend on the time of the file, so the time is checked afterwards. */
  async function decide(sha256: string, { unusedSince, isNeeded }: Judge): Promise<boolean> {
    const path = join(aside, sha256);
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return false;
    if (stats.mtimeMs <= unusedSince && !(await isNeeded(sha256))) {
      removeThumbnails(directory, sha256);
      await rm(path, { force: true });
      return true;
    }
    const home = pathOf(sha256);
    // Somebody may have stored it anew meanwhile; equal contents are equal files.
    await makeFolder(join(home, ".."), directory);
    moveIfThere(path, home);
    return false;
  }

  return {
    async *folders() {
      const root = join(directory, "sha256");
      for (const above of (await names(root)).filter((name) => FOLDER.test(name)))
        yield* namesBelow(join(root, above));
    },
    async look(sha256) {
      for (const path of placesOf(sha256)) {
        const stats = await stat(path).catch(undefinedWhenMissing);
        if (stats?.isFile() === true) return { sizeBytes: stats.size, usedAt: stats.mtimeMs };
      }
      return undefined;
    },
    async rehash(sha256) {
      const path = placesOf(sha256).find((each) => statSync(each, { throwIfNoEntry: false })?.isFile());
      return path && hashOf(Bun.file(path));
    },
    remove: (sha256, judge) =>
      storing(async () => {
        await makeFolder(aside, directory);
        // Where it lies twice, the time of the one that is found first counts, so that this one is moved last.
        const moved = placesOf(sha256)
          .toReversed()
          .filter((path) => moveIfThere(path, join(aside, sha256)));
        return moved.length > 0 && (await decide(sha256, judge));
      }),
    settle: (judge) =>
      storing(async () => {
        const left = (await names(aside)).filter((name) => SHA256.test(name));
        for (const sha256 of left) await decide(sha256, judge);
        return left.length;
      }),
  };
}

/** The contents below one of the 256 folders, and below each folder in it, where versions before stored them. */
async function* namesBelow(folder: string): AsyncGenerator<readonly string[]> {
  const all = await names(folder);
  const contents = all.filter((name) => SHA256.test(name));
  for (let at = 0; at < contents.length; at += MOST_NAMES) yield contents.slice(at, at + MOST_NAMES);
  for (const name of all.filter((each) => FOLDER.test(each)))
    yield (await names(join(folder, name))).filter((each) => SHA256.test(each));
}

async function hashOf(file: Blob): Promise<string> {
  const hash = new Bun.CryptoHasher("sha256");
  for (let from = 0; from < file.size; from += PIECE_BYTES)
    hash.update(await file.slice(from, from + PIECE_BYTES).arrayBuffer());
  return hash.digest("hex");
}

/** @returns false when there is nothing to move */
function moveIfThere(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return false;
    throw error;
  }
}

async function names(folder: string): Promise<string[]> {
  return (await readdir(folder).catch(undefinedWhenMissing)) ?? [];
}

function undefinedWhenMissing(error: unknown): undefined {
  if (errorCode(error) === "ENOENT" || errorCode(error) === "ENOTDIR") return undefined;
  throw error;
}
