import { createHash } from "node:crypto";
import {
  closeSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { ManifestFiles } from "../domain/ports/manifests.ts";
import { StorageError } from "../domain/ports/task-store.ts";
import { flushFolder, makeFolderForGood } from "../runtime/flush-folder.ts";
import { createManageManifests, type ManageManifestsDeps } from "../service/manage-manifests.ts";
import { isSystemError, reasonOf } from "../toolkit/system-error.ts";
import type { Folder } from "./data-folder.ts";
import { createManifestChecking } from "./own-manifest-checking.ts";
import { OWN_MODELS } from "./own-models.ts";
import type { Rooms } from "./rooms.ts";

/** The files of own models of a data folder, for those who edit them from afar. */
export function createOwnManifests(
  { dataDir }: Folder,
  {
    catalog,
    clock,
    providerIds,
    noteChange,
  }: Pick<Rooms, "catalog" | "clock" | "providerIds"> & Pick<ManageManifestsDeps, "noteChange">,
) {
  const check = createManifestChecking({ clock });
  return createManageManifests({
    catalog,
    noteChange,
    files: manifestFiles(join(dataDir, OWN_MODELS)),
    check: (text) => check({ text, providers: providerIds() }),
    digest: (text) => ({
      bytes: Buffer.byteLength(text),
      sha256: createHash("sha256").update(text).digest("hex"),
    }),
  });
}

function manifestFiles(folder: string): ManifestFiles {
  return {
    names: () => reading(() => readdirSync(folder).filter((name) => name.endsWith(".yaml"))) ?? [],
    read: (name) => reading(() => readFileSync(join(folder, name), "utf8")),
    write: (name, text) => storing(() => write(join(folder, name), text)),
    remove: (name) =>
      storing(() => {
        rmSync(join(folder, name), { force: true });
        flushFolder(folder);
      }),
  };
}

function write(path: string, text: string): void {
  const folder = dirname(path);
  makeFolderForGood(folder);
  // The server ignores files whose names have another ending.
  const partial = `${path}.part`;
  rmSync(partial, { force: true });
  try {
    const file = openSync(partial, "wx", 0o600);
    try {
      const bytes = Buffer.from(text);
      for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(partial, path);
    flushFolder(folder);
  } finally {
    rmSync(partial, { force: true });
  }
}

/** @returns undefined for what is not there or cannot be read */
function reading<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}

function storing(store: () => void): void {
  try {
    store();
  } catch (error) {
    if (!isSystemError(error)) throw error;
    const kind = error.code === "ENOSPC" || error.code === "EDQUOT" ? "full" : "read_only";
    throw new StorageError(kind, `A model cannot be stored: ${reasonOf(error)}.`, error);
  }
}
