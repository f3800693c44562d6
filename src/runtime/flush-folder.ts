import { closeSync, fsyncSync, openSync } from "node:fs";

/** Makes names that were given or taken in a folder outlive a loss of power. */
export function flushFolder(path: string): void {
  const folder = openSync(path, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
