import { appendFile, open, readFile, stat, truncate } from "node:fs/promises";
import { reasonOf } from "../../toolkit/system-error.ts";
import type { HeadLine, Line } from "./format.ts";

/** A recording that is written: lines in the order in which they are added. */
export interface Tape {
  /** Makes the lines and writes them, later. Never throws. */
  add(lines: () => Promise<readonly Line[]> | readonly Line[]): void;
  /** Whether the file is there, or will be. */
  readonly isBegun: boolean;
  done(): Promise<void>;
}

/** @param onStop told why nothing more can be written */
export function openTape(path: string, head: HeadLine, onStop: (why: string) => void): Tape {
  let isBegun = false;
  let isStopped = false;
  let written = Promise.resolve();

  const append = (lines: readonly Line[]) =>
    appendFile(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""), { mode: 0o600 });
  const next = async (lines: () => Promise<readonly Line[]> | readonly Line[]) => {
    try {
      // Made also where they are not written any more: files are closed by it.
      const made = await lines();
      if (!isStopped && made.length > 0) await append(made);
    } catch (error) {
      if (isStopped) return;
      isStopped = true;
      const why = reasonOf(error);
      onStop(why);
      // May fail for the same reason. Then the line that tells of the end is missing.
      await append([{ stopped: why }]).catch(() => undefined);
    }
  };
  const add: Tape["add"] = (lines) => {
    if (!isBegun) {
      isBegun = true;
      written = written.then(() => next(() => begin(path, head)));
    }
    written = written.then(() => next(lines));
  };
  return {
    add,
    done: () => written,
    get isBegun() {
      return isBegun;
    },
  };
}

/** The first lines of a file that is new. One of an earlier process loses a line that was cut off, and goes on. */
async function begin(path: string, head: HeadLine): Promise<Line[]> {
  const known = await stat(path).catch(() => undefined);
  if (known === undefined) {
    const handle = await open(path, "wx", 0o600);
    await handle.close();
    return [head];
  }
  const content = await readFile(path);
  const end = content.lastIndexOf(0x0a) + 1;
  if (end < content.length) await truncate(path, end);
  return end === 0 ? [head] : [];
}
