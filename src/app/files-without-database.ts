import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { assetsOf, databaseOf } from "./data-folder.ts";

/** A data folder, and where its files are. */
export type FilesFolder = Parameters<typeof assetsOf>[0];

/** There is no database, but files of one. */
export class FilesWithoutDatabase extends Error {
  override readonly name = "FilesWithoutDatabase";
}

/**
 * Refuses to make a new database beside files that another one knows, as where the database was lost or the disk of the data folder
 * is not mounted. To the new database, these would be files that no task has, and would be removed.
 *
 * @throws FilesWithoutDatabase
 */
export function requireDatabaseOfFiles(config: FilesFolder): void {
  const database = databaseOf(config);
  if ((statSync(database, { throwIfNoEntry: false })?.size ?? 0) > 0) return;
  const assets = assetsOf(config);
  if (!holdsFile(join(assets, "sha256"))) return;
  throw new FilesWithoutDatabase(
    `There is no ${database}, but ${assets} has the files of one, which a new database would remove. Put svc.db back, or mount its disk; svc db restore makes a folder of a backup. To begin anew, move the files away.`,
  );
}

/** Whether there is a file below a folder, at any depth. Ends at the first. */
function holdsFile(folder: string): boolean {
  if (!existsSync(folder)) return false;
  return readdirSync(folder, { withFileTypes: true }).some(
    (entry) => entry.isFile() || (entry.isDirectory() && holdsFile(join(folder, entry.name))),
  );
}
