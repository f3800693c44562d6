import { chownSync, statSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Gives a new file or folder to the user that the folder around it belongs to. Only root can, and only root has to: what it makes in
 * the data folder of a server's user, that server could not read, and would not start. SQLite does the same with its files.
 */
export function giveToFolderOwner(path: string): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(dirname(path));
  try {
    if (uid !== 0) chownSync(path, uid, gid);
  } catch {
    // Root of a container or of a network may not; then the file stays root's, and the doctor tells.
  }
}
