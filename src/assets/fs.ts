import { rmSync, type Stats, statSync, utimesSync } from "node:fs";
import { rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type ContentFiles, type FileName, SHA256 } from "./content-files.ts";
import { flush, openFolders } from "./content-folders.ts";
import { type Draft, openDrafts } from "./drafts.ts";
import { createKeeper } from "./keep-together.ts";
import { errorCode, storing } from "./storage-errors.ts";
import { removeThumbnails } from "./thumbnail-files.ts";

/** How old the time of a file may be before `claim` renews it. Much less than the age at which the collector takes it for left over. */
export const CLAIM_EVERY_MS = 10 * 60_000;

/** The folder for files that are being received. Files in it are left over if no process is storing. */
export const temporaryFolderOf = (directory: string): string => join(directory, "tmp");

/**
 * Files named by the SHA-256 of their content: `<directory>/sha256/ab/<64 hexadecimal digits>`. Those that versions before stored lie in
 * one more folder, and stay there. A flushed temporary file is renamed, and `keep` returns after the folders are flushed too: a crash at
 * any point leaves the whole file or none.
 */
export function openContentFiles(options: {
  directory: string;
  newTemporaryName: () => string;
  now?: (() => number) | undefined;
}): FolderFiles {
  const { directory, newTemporaryName } = options;
  const folders = openFolders(directory);
  const { pathOf, prepare } = folders;
  const { find, pathIfThere, claim } = lookInto(folders, () => options.now?.() ?? 0);
  const temporary = temporaryFolderOf(directory);
  const drafts = openDrafts(temporary, newTemporaryName);
  const together = createKeeper(temporary, newTemporaryName, { pathOf, prepare });

  /** Turns the draft into the content file of this hash. Replaces an existing one. */
  function keep(file: Draft, name: FileName): Promise<void> {
    return storing(async () => {
      const { sha256 } = name;
      const path = pathOf(sha256);
      await Promise.all([file.handle.sync(), prepare([sha256])]);
      await drafts.handOver(file, (from) =>
        rename(from, path).catch(async (error: unknown) => {
          // Somebody removed the empty folder in the meantime.
          if (errorCode(error) !== "ENOENT") throw error;
          await prepare([sha256], "again");
          await rename(from, path);
        }),
      );
      claim(name);
      await flush(dirname(path));
    });
  }

  /** Makes an existing content file survive a crash: it may have been renamed a moment ago. @returns whether it is there */
  function settle(file: FileName): Promise<boolean> {
    return storing(async () => {
      const path = claim(file) ? pathIfThere(file) : undefined;
      if (path === undefined) return false;
      const folder = dirname(path);
      await Promise.all([prepare([file.sha256]), flush(folder), flush(dirname(folder))]);
      return true;
    });
  }

  const { draft, discard, removeAll: removeTemporary } = drafts;
  return {
    ...{ draft, keep, discard, settle, find, pathIfThere, claim, removeTemporary },
    keepBytes: (bytes, name) => storing(() => together(bytes, name.sha256).then(() => void claim(name))),
    // Synchronous, so that nobody can find the file in between and depend on it.
    remove: (sha256) => storing(async () => removeNow(directory, sha256)),
    isElsewhere: async () => false,
    // What is done to a file here ends before anybody else has a turn, or can be done twice.
    alone: (_, work) => work(),
    use: async (file) => claim(file),
    bring: async (file) => pathIfThere(file),
    handOver: drafts.handOver,
    pathOfDraft: drafts.pathOf,
  };
}

/** Files in a folder of this machine. */
export interface FolderFiles extends ContentFiles {
  /** Lets go of a draft that `take` moved away from this path. */
  handOver<T>(draft: Draft, take: (path: string) => Promise<T>): Promise<T>;
  pathOfDraft(draft: Draft): string | undefined;
  find(sha256: string): Promise<{ readonly path: string; readonly sizeBytes: number } | undefined>;
}

/** Removes a content file, if there is one, and its thumbnails. */
function removeNow(directory: string, sha256: string): void {
  const { pathOf, earlierPathOf } = openFolders(directory);
  removeThumbnails(directory, sha256);
  for (const path of [pathOf(sha256), earlierPathOf(sha256)]) rmSync(path, { force: true });
}

/** Finds the files of a folder. @param now the time, by which files in use are known */
function lookInto(
  { pathOf, earlierPathOf }: Pick<ReturnType<typeof openFolders>, "pathOf" | "earlierPathOf">,
  now: () => number,
) {
  /** Undefined when there is no such file, or when the name is no hash. */
  function lookFor(sha256: string): { readonly path: string; readonly stats: Stats } | undefined {
    if (!SHA256.test(sha256)) return undefined;
    return at(pathOf(sha256)) ?? at(earlierPathOf(sha256));
  }

  function at(path: string) {
    const stats = look(path);
    return stats && { path, stats };
  }

  return {
    async find(sha256: string): Promise<{ path: string; sizeBytes: number } | undefined> {
      const found = lookFor(sha256);
      return found?.stats.isFile() === true ? { path: found.path, sizeBytes: found.stats.size } : undefined;
    },
    /** The path of a content file of this size, or undefined like `find`. Synchronous, see `hasSize`. */
    pathIfThere({ sha256, sizeBytes }: FileName): string | undefined {
      const found = lookFor(sha256);
      return hasSize(found?.stats, sizeBytes) ? found?.path : undefined;
    },
    /**
     * Says that a content is about to be used, by the time of its file: a collector in another process leaves it alone. Also a file that is
     * new: its time is that of the machine that stores it, whose clock may be another one than the nodes have. Synchronous, like
     * `pathIfThere`. @returns whether it is there
     */
    claim({ sha256, sizeBytes }: FileName): boolean {
      const found = lookFor(sha256);
      if (found === undefined || !hasSize(found.stats, sizeBytes)) return false;
      return now() - found.stats.mtimeMs < CLAIM_EVERY_MS || renew(found.path, now());
    },
  };
}

/** Sets the time of a file. @returns false where it is gone */
function renew(path: string, now: number): boolean {
  try {
    utimesSync(path, now / 1000, now / 1000);
    return true;
  } catch (error) {
    if (isAbsence(error)) return false;
    throw error;
  }
}

/**
 * Whether it is a file of this size. A synchronous look takes three microseconds, the way to another thread and back ten times that,
 * and Bun opens a file that it serves on this thread too.
 */
function hasSize(stats: Stats | undefined, sizeBytes: number): stats is Stats {
  return stats?.size === sizeBytes && stats.isFile();
}

function look(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (isAbsence(error)) return undefined;
    throw error;
  }
}

function isAbsence(error: unknown): boolean {
  return errorCode(error) === "ENOENT" || errorCode(error) === "ENOTDIR";
}
