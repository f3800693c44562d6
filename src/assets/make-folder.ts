import { mkdirSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { errorCode } from "./storage-errors.ts";

/**
 * Creates a folder and those above it, `root` included. Fails where the parent of `root` is missing: whoever moved it away must
 * not find a new one in its place.
 *
 * @returns the uppermost folder that was created, if any
 */
export async function makeFolder(folder: string, root: string): Promise<string | undefined> {
  try {
    await mkdir(folder, { mode: 0o700 });
    return folder;
  } catch (error) {
    if (errorCode(error) === "EEXIST") return undefined;
    if (errorCode(error) !== "ENOENT" || folder === root) throw error;
  }
  const above = await makeFolder(dirname(folder), root);
  const made = await makeFolder(folder, folder);
  return above ?? made;
}

/** The same at once. It takes less time than the way to another thread and back. */
export function makeFolderNow(folder: string, root: string): string | undefined {
  try {
    mkdirSync(folder, { mode: 0o700 });
    return folder;
  } catch (error) {
    if (errorCode(error) === "EEXIST") return undefined;
    if (errorCode(error) !== "ENOENT" || folder === root) throw error;
  }
  const above = makeFolderNow(dirname(folder), root);
  const made = makeFolderNow(folder, folder);
  return above ?? made;
}
