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
 * Files named by the SHA-256 of their content: `<directory>/sha256/ab/cd/<64 hexadecimal digits>`. A flushed temporary file is
 * renamed, and `keep` returns after the folders are flushed too: a crash at any point leaves the whole file or none.
 */
export function openContentFiles(options: {
  directory: string;
  newTemporaryName: () => string;
  now?: (() => number) | undefined;
}): FolderFiles {
  const { directory, newTemporaryName } = options;
  const { pathOf, prepare } = openFolders(directory);
  const { find, pathIfThere } = lookInto(pathOf);
  const temporary = temporaryFolderOf(directory);
  const drafts = openDrafts(temporary, newTemporaryName);
  const together = createKeeper(temporary, newTemporaryName, { pathOf, prepare });

  /** Turns the draft into the content file of this hash. Replaces an existing one. */
  function keep(file: Draft, { sha256 }: FileName): Promise<void> {
    return storing(async () => {
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
      await flush(dirname(path));
    });
  }

  /** Makes an existing content file survive a crash: it may have been renamed a moment ago. @returns whether it is there */
  function settle(file: FileName): Promise<boolean> {
    return storing(async () => {
      if (!claim(file)) return false;
      await prepare([file.sha256]);
      await flush(dirname(pathOf(file.sha256)));
      return true;
    });
  }

  const claim = ({ sha256, sizeBytes }: FileName): boolean =>
    claimFile(pathOf(sha256), sizeBytes, options.now?.() ?? 0);
  const { draft, discard, removeAll: removeTemporary } = drafts;
  return {
    ...{ draft, keep, discard, settle, find, pathIfThere, claim, removeTemporary },
    keepBytes: (bytes, { sha256 }) => storing(() => together(bytes, sha256)),
    // Synchronous, so that nobody can find the file in between and depend on it.
    remove: (sha256) => storing(async () => removeNow(directory, sha256, pathOf(sha256))),
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
function removeNow(directory: string, sha256: string, path: string): void {
  removeThumbnails(directory, sha256);
  rmSync(path, { force: true });
}

/** Finds the files of a folder. */
function lookInto(pathOf: (sha256: string) => string) {
  return {
    /** Returns undefined when there is no such file, or when the name is no hash. */
    async find(sha256: string): Promise<{ path: string; sizeBytes: number } | undefined> {
      if (!SHA256.test(sha256)) return undefined;
      const path = pathOf(sha256);
      const stats = look(path);
      return stats?.isFile() === true ? { path, sizeBytes: stats.size } : undefined;
    },
    /** The path of a content file of this size, or undefined like `find`. Synchronous, see `hasSize`. */
    pathIfThere({ sha256, sizeBytes }: FileName): string | undefined {
      if (!SHA256.test(sha256)) return undefined;
      const path = pathOf(sha256);
      return hasSize(look(path), sizeBytes) ? path : undefined;
    },
  };
}

/**
 * Says that a content is about to be used, by the time of its file: a collector in another process leaves it alone. Synchronous, like
 * `pathIfThere`. @returns whether it is there
 */
function claimFile(path: string, sizeBytes: number, now: number): boolean {
  const stats = look(path);
  if (!hasSize(stats, sizeBytes)) return false;
  if (now - stats.mtimeMs < CLAIM_EVERY_MS) return true;
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
