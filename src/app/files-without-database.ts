import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { AssetConfig } from "../config/assets.ts";
import type { RetentionStore } from "../domain/ports/retention-store.ts";
import type { StoredContents } from "../domain/ports/stored-contents.ts";
import { createSystemClock } from "../runtime/clock.ts";
import { knownFolderId } from "../runtime/folder-id.ts";
import { openClient } from "./bucket-client.ts";
import { assetsOf, databaseOf, type Folder } from "./data-folder.ts";
import { bucketOwnership, folderOwnership, lookerOf } from "./files-owner.ts";

/** A data folder, and where its files are. */
export type FilesFolder = Folder & { readonly assets?: Pick<AssetConfig, "path" | "bucket"> | undefined };

/** There is no database, but files of one. */
class FilesWithoutDatabase extends Error {
  override readonly name = "FilesWithoutDatabase";
}

/** A start waits no longer for a bucket that does not answer. */
const HASTE = { patienceMs: 3_000, answerMs: 3_000 };
const WAYS =
  "Put the database back, or mount its disk; svc db restore makes a folder of a backup. To begin anew, move the files away";

/**
 * Refuses to make a new database beside files that another one knows, as where the database was lost or the disk of the data folder
 * is not mounted. To the new database, these would be files that no task has, and would be removed.
 *
 * @throws FilesWithoutDatabase; S3Error where it is not known because the bucket does not answer
 */
export async function requireDatabaseOfFiles(config: FilesFolder): Promise<void> {
  const database = databaseOf(config);
  if ((statSync(database, { throwIfNoEntry: false })?.size ?? 0) > 0) return;
  const directory = assetsOf(config);
  const [clock, me] = [createSystemClock(), lookerOf(config)];
  if (holdsFile(join(directory, "sha256"))) {
    const other = await folderOwnership(directory, { clock, me }).other();
    const whose = other === undefined ? "" : ` (which belongs to ${other})`;
    throw withoutDatabase(database, `${directory}${whose}`, "assets.path");
  }
  const bucket = config.assets?.bucket;
  // A data folder that has no id yet has no bucket, and finds out whose it is before it takes it.
  if (bucket === undefined || knownFolderId(config.dataDir) === undefined) return;
  const client = await openClient(bucket, clock);
  // Whoever else has it is told when the bucket is to be taken, and can be followed by a database that is there by then.
  if ((await (await bucketOwnership(client, { clock, me })).other(HASTE)) !== undefined) return;
  const { Objects } = await import("../assets/s3/objects.ts");
  const where = `the bucket ${bucket.name}/${bucket.prefix}`;
  if (await new Objects(client).hasAny(HASTE)) throw withoutDatabase(database, where, "assets.prefix");
}

function withoutDatabase(database: string, place: string, setting: string): FilesWithoutDatabase {
  return new FilesWithoutDatabase(
    `There is no ${database}, but ${place} has the files of one, which a new database would remove. ${WAYS}, or give another ${setting}.`,
  );
}

/** So many files are looked at. */
const ENOUGH = 1_000;

/**
 * Says why a database must not take files that are nobody's so far: it knows none of the first, and would remove them.
 *
 * @returns undefined where it knows one of them, or there is none
 */
export function strangersFor({ neededContents }: Pick<RetentionStore, "neededContents">) {
  return async (place: string, contents: StoredContents): Promise<string | undefined> => {
    let count = 0;
    for await (const names of contents.folders()) {
      if (names.length > 0 && (await neededContents(names)).length > 0) return undefined;
      count += names.length;
      if (count >= ENOUGH) break;
    }
    if (count === 0) return undefined;
    return `The database knows none of the files in ${place}, which are of another one, and would remove them. ${WAYS}, or give them up with svc assets claim.`;
  };
}

/** Whether there is a file below a folder, at any depth. Ends at the first. */
function holdsFile(folder: string): boolean {
  if (!existsSync(folder)) return false;
  return readdirSync(folder, { withFileTypes: true }).some(
    (entry) => entry.isFile() || (entry.isDirectory() && holdsFile(join(folder, entry.name))),
  );
}
