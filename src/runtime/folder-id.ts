import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isSystemError } from "../toolkit/system-error.ts";
import { flushFolder } from "./flush-folder.ts";
import { giveToFolderOwner } from "./folder-owner.ts";

/** The file that distinguishes a data folder from all others. It is in no backup, so a restored folder gets an id of its own. */
export const FOLDER_ID = "folder.id";
const ID = /^folder_[0-9a-f]{32}$/;

/** The id of a folder. It is created if there is none. Processes that ask at once get the same id. */
export function folderIdOf(folder: string): string {
  const path = join(folder, FOLDER_ID);
  const known = knownFolderId(folder);
  if (known !== undefined) return known;
  const id = `folder_${Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString("hex")}`;
  const draft = `${path}.${id.slice(-8)}.part`;
  writeFileSync(draft, `${id}\n`, { mode: 0o600, flush: true });
  giveToFolderOwner(draft);
  try {
    linkSync(draft, path);
    flushFolder(folder);
    return id;
  } catch (error) {
    const other = readId(path);
    if (other !== undefined) return other;
    if (!isSystemError(error)) throw error;
    // Not every file system has links.
    renameSync(draft, path);
    return id;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** The id that a folder has; undefined where it has none yet. @throws Error where the file holds something else */
export function knownFolderId(folder: string): string | undefined {
  return readId(join(folder, FOLDER_ID));
}

function readId(path: string): string | undefined {
  let text: string;
  try {
    text = readFileSync(path, "utf8").trim();
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
  if (ID.test(text)) return text;
  throw new Error(`${path} holds no id of a data folder. Remove it, and svc makes a new one.`);
}
