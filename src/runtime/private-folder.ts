import { chmodSync, lstatSync, readdirSync, realpathSync, type Stats } from "node:fs";
import { join } from "node:path";

/** What a folder holds, by name. Nothing else in it is touched: an operator may keep more there. */
export interface FolderContents {
  readonly files: readonly string[];
  /** With everything below them. */
  readonly folders: readonly string[];
}

/** Other users can read or write private files, and that cannot be changed. */
class FolderExposed extends Error {
  override readonly name = "FolderExposed";
}

const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
/** What a mode gives to anybody but the owner. */
const OTHERS = 0o077;

/**
 * Closes a folder and its contents to other users, and makes every file that this process creates from now on its user's alone. A
 * tree below is walked only when its top was open.
 *
 * @returns the paths that were open to others, the folder's own as `.`
 * @throws FolderExposed when something cannot be closed
 */
export function makePrivate(folder: string, { files, folders }: FolderContents): string[] {
  process.umask(OTHERS);
  const closed: string[] = [];
  const close = (name: string, path: string) => {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    // A link is followed only where an operator put it: to a disk of its own.
    if (stats === undefined || stats.isSymbolicLink()) return;
    if (closeOne(path, stats)) closed.push(name);
  };
  // This comes first, so that nobody can enter meanwhile.
  close(".", realpathSync(folder));
  for (const name of files) close(name, join(folder, name));
  for (const name of folders) {
    const path = resolved(join(folder, name));
    const top = path === undefined ? undefined : lstatSync(path);
    if (path === undefined || top === undefined || !isOpen(top)) continue;
    for (const entry of readdirSync(path, { recursive: true, encoding: "utf8" }))
      close(join(name, entry), join(path, entry));
    // This comes last, so that after an interrupted start the next one walks the tree again.
    close(name, path);
  }
  return closed;
}

/** @returns whether it was open */
function closeOne(path: string, stats: Stats): boolean {
  const user = process.getuid?.();
  // Root can close what belongs to somebody else.
  if (user !== undefined && user !== 0 && stats.uid !== user)
    throw exposed(path, `it belongs to another user (uid ${stats.uid}, not ${user})`);
  if (!isOpen(stats)) return false;
  try {
    chmodSync(path, stats.isDirectory() ? FOLDER_MODE : FILE_MODE);
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "EROFS")
      throw exposed(path, "its file system is mounted read-only", { way: REMOUNT, cause });
    throw exposed(path, cause instanceof Error ? cause.message : String(cause), { cause });
  }
  if (isOpen(lstatSync(path))) throw exposed(path, "its filesystem keeps no permissions");
  return true;
}

function isOpen({ mode }: Stats): boolean {
  return (mode & OTHERS) !== 0;
}

function resolved(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

const OWN =
  "Make its files yours (chown -R), or choose another --data-dir; a new folder inside this one will do.";
const REMOUNT = "Mount it for writing, or choose another --data-dir.";

function exposed(
  path: string,
  why: string,
  { way = OWN, cause }: { readonly way?: string; readonly cause?: unknown } = {},
): FolderExposed {
  return new FolderExposed(`${path} cannot be closed to other users: ${why}. ${way}`, { cause });
}
