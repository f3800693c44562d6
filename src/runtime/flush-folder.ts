import { closeSync, fsyncSync, openSync } from "node:fs";

/** Makes changes of names in a folder survive a loss of power. */
export function flushFolder(path: string): void {
  const folder = openSync(path, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
