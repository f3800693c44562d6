import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { StringDecoder } from "node:string_decoder";
import { LOG_PARTS, logPart } from "./log-file.ts";

const CHUNK_BYTES = 65_536;

/** One file of the log that is open, read to some place. */
class Part {
  readonly inode: number;
  readonly #file: number;
  readonly #buffer = Buffer.alloc(CHUNK_BYTES);
  readonly #decoder = new StringDecoder("utf8");
  #rest = "";

  constructor(file: number) {
    this.#file = file;
    this.inode = fstatSync(file).ino;
  }

  /** When a line was last written to it, in nanoseconds. */
  get writtenAt(): bigint {
    return fstatSync(this.#file, { bigint: true }).mtimeNs;
  }

  /** The whole lines that were written since the last call. */
  *lines(): Generator<string> {
    for (;;) {
      const count = readSync(this.#file, this.#buffer, 0, CHUNK_BYTES, null);
      if (count === 0) return;
      const [rest = "", ...later] = (this.#rest + this.#decoder.write(this.#buffer.subarray(0, count)))
        .split("\n")
        .reverse();
      this.#rest = rest;
      yield* later.reverse();
    }
  }

  close(): void {
    closeSync(this.#file);
  }
}

/**
 * Opens the parts that are newer than a known one, the newest last. All are opened before any is read, as names move on. Where somebody
 * removed the known one, those that were written later are newer.
 */
function openParts(folder: string, known?: Part): Part[] {
  const parts: Part[] = [];
  for (let part = 0; part < LOG_PARTS; part++) {
    const opened = openPart(logPart(folder, part));
    if (opened === undefined) continue;
    const isKnown = opened.inode === known?.inode;
    // A name may have moved on to the next while the files were opened.
    if (isKnown || opened.inode === parts[0]?.inode) opened.close();
    else parts.unshift(opened);
    if (isKnown) return parts;
  }
  if (known === undefined) return parts;
  const { writtenAt } = known;
  const isNewer = parts.map((part) => part.writtenAt > writtenAt);
  for (const [i, part] of parts.entries()) if (isNewer[i] !== true) part.close();
  return parts.filter((_, i) => isNewer[i]);
}

function openPart(path: string): Part | undefined {
  try {
    return new Part(openSync(path, "r"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Whether a log is stored in this folder. */
export function hasLog(folder: string): boolean {
  const part = openPart(logPart(folder, 0)) ?? openPart(logPart(folder, 1));
  part?.close();
  return part !== undefined;
}

/** Reads a log that is kept, and goes on where it ended. */
export class LogReader {
  readonly #folder: string;
  #current: Part | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The lines that were not read yet, the oldest first. Those of a part that is gone by now are lost. */
  *unread(): Generator<string> {
    const later = openParts(this.#folder, this.#current);
    // Also what was written before its name moved on.
    if (this.#current !== undefined) yield* this.#current.lines();
    for (const next of later) {
      this.close();
      this.#current = next;
      yield* next.lines();
    }
  }

  close(): void {
    this.#current?.close();
    this.#current = undefined;
  }
}
