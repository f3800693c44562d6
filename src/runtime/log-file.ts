import { closeSync, fstatSync, mkdirSync, openSync, renameSync, rmSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";

/** How many files the log has at most. The newest is written to; the oldest goes when a new one begins. */
export const LOG_PARTS = 4;

/** The path of a part of the log: 0 is the newest. */
export const logPart = (folder: string, part: number): string =>
  join(folder, part === 0 ? "svc.log" : `svc.${part}.log`);

export interface LogFileOptions {
  /** Made when it is missing, for this user alone. The folder above it has to be there. */
  readonly folder: string;
  /** All parts together have no more. */
  readonly mostBytes: number;
  /** Called once when nothing can be written, and again when that happens anew. */
  readonly onTrouble: (error: Error) => void;
}

/**
 * Keeps the latest lines of the log in files. Never throws: without room, lines are only written elsewhere until there is room
 * again. A file that somebody removed or moved away is begun anew.
 */
export class LogFile {
  readonly #options: LogFileOptions;
  #file: number | undefined;
  #inode = 0;
  #bytes = 0;
  #isTroubled = false;

  constructor(options: LogFileOptions) {
    this.#options = options;
  }

  /** @param lines whole ones */
  write(lines: string): void {
    // Ends a line that a full disk has truncated.
    const bytes = Buffer.from(this.#isTroubled ? `\n${lines}` : lines);
    try {
      if (this.#isGone()) this.stop();
      this.#file ??= this.#open();
      if (this.#bytes > 0 && this.#bytes + bytes.length > this.#options.mostBytes / LOG_PARTS)
        this.#file = this.#beginAnew();
      for (let done = 0; done < bytes.length; ) done += writeSync(this.#file, bytes, done);
      this.#bytes += bytes.length;
      this.#isTroubled = false;
    } catch (error) {
      this.stop();
      const isNew = !this.#isTroubled;
      this.#isTroubled = true;
      // It may be told by a line that comes here too.
      if (isNew) this.#options.onTrouble(error as Error);
    }
  }

  stop(): void {
    const file = this.#file;
    this.#file = undefined;
    if (file !== undefined) closeSync(file);
  }

  /** Whether what is written would go to a file that nobody finds. */
  #isGone(): boolean {
    if (this.#file === undefined) return false;
    return statSync(logPart(this.#options.folder, 0), { throwIfNoEntry: false })?.ino !== this.#inode;
  }

  #open(): number {
    const { folder } = this.#options;
    makeFolder(folder);
    const file = openSync(logPart(folder, 0), "a", 0o600);
    const { ino, size } = fstatSync(file);
    this.#inode = ino;
    this.#bytes = size;
    return file;
  }

  #beginAnew(): number {
    const { folder } = this.#options;
    this.stop();
    rmSync(logPart(folder, LOG_PARTS - 1), { force: true });
    for (let part = LOG_PARTS - 2; part >= 0; part--) {
      try {
        renameSync(logPart(folder, part), logPart(folder, part + 1));
      } catch (error) {
        // There are fewer parts yet.
        if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
      }
    }
    return this.#open();
  }
}

/** Not with those above it: a data folder that was moved away must not come back as an empty one. */
function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}
