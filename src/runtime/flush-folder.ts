import { closeSync, fsyncSync, mkdirSync, openSync } from "node:fs";
import { dirname, resolve } from "node:path";

/** Makes changes of names in a folder survive a loss of power. */
export function flushFolder(path: string): void {
  const folder = openSync(path, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/**
 * Makes a folder of this user's alone where there is none, and those above it, so that they survive a loss of power.
 * @returns whether it was missing
 */
export function makeFolderForGood(path: string): boolean {
  const first = mkdirSync(path, { recursive: true, mode: 0o700 });
  if (first === undefined) return false;
  for (let made = resolve(path); made.length >= first.length; made = dirname(made)) flushAbove(made);
  return true;
}

function flushAbove(folder: string): void {
  try {
    flushFolder(dirname(folder));
  } catch (error) {
    // Whoever may make names in a folder need not be one who may list it.
    if (!(error instanceof Error && "code" in error && error.code === "EACCES")) throw error;
  }
}
