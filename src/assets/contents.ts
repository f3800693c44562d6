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

/** The contents of a local folder, as `openContentFiles` stores them. Touches nothing before the first call. */
export function openStoredContents(directory: string): StoredContents {
  const { pathOf } = openFolders(directory);
  const aside = join(directory, "leaving");

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
        for (const folder of (await names(join(root, above))).filter((name) => FOLDER.test(name)))
          yield (await names(join(root, above, folder))).filter((name) => SHA256.test(name));
    },
    async look(sha256) {
      const stats = await stat(pathOf(sha256)).catch(undefinedWhenMissing);
      return stats?.isFile() === true ? { sizeBytes: stats.size, usedAt: stats.mtimeMs } : undefined;
    },
    async rehash(sha256) {
      const file = Bun.file(pathOf(sha256));
      if (!(await file.exists())) return undefined;
      const hash = new Bun.CryptoHasher("sha256");
      for (let from = 0; from < file.size; from += PIECE_BYTES)
        hash.update(await file.slice(from, from + PIECE_BYTES).arrayBuffer());
      return hash.digest("hex");
    },
    remove: (sha256, judge) =>
      storing(async () => {
        await makeFolder(aside, directory);
        return moveIfThere(pathOf(sha256), join(aside, sha256)) && (await decide(sha256, judge));
      }),
    settle: (judge) =>
      storing(async () => {
        const left = (await names(aside)).filter((name) => SHA256.test(name));
        for (const sha256 of left) await decide(sha256, judge);
        return left.length;
      }),
  };
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
