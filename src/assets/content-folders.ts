import { open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { makeFolder } from "./make-folder.ts";

/** Names the files of a folder of content, and makes the folders they lie in survive a crash. */
export function openFolders(directory: string) {
  const content = join(directory, "sha256");
  /** One flag for each of the 65,536 folders: its directory entry is known to be flushed. */
  const flushed = new Uint8Array(0x10000);
  /** Parents of those folders whose directory entries are flushed. */
  const flushedAbove = new Set<string>();

  function pathOf(sha256: string): string {
    return join(content, sha256.slice(0, 2), sha256.slice(2, 4), sha256);
  }

  /** Creates the folder of a content file. Flushes it before anything is renamed into it. */
  async function prepareFolder(sha256: string, when: "once" | "again" = "once"): Promise<void> {
    const number = Number.parseInt(sha256.slice(0, 4), 16);
    if (when === "once" && flushed[number] === 1) return;
    const folder = dirname(pathOf(sha256));
    const above = dirname(folder);
    const created = await makeFolder(folder, directory);
    // A new folder is a new entry of its parent. An existing one may have been created just before a crash, unflushed.
    if (created !== undefined && created !== folder) flushedAbove.clear();
    const isKnown = flushedAbove.has(above);
    await Promise.all((isKnown ? [above] : [above, content, directory]).map(flush));
    flushedAbove.add(above);
    flushed[number] = 1;
  }

  return { pathOf, prepareFolder };
}

export async function flush(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
