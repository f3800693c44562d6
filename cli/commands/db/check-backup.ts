import { resolve } from "node:path";
import type { ObjectPlaces } from "../../../src/app/backup-objects.ts";
import type { BackupInBucket } from "../../../src/app/backup-places.ts";
import { isBucketUrl, parseBucketUrl } from "../../../src/config/buckets.ts";
import type { Config } from "../../../src/config/config.ts";
import type { Context } from "../../context.ts";
import { EXIT } from "../../exit-codes.ts";
import { Failure, usage } from "../../failure.ts";
import type { Output } from "../../format/output.ts";
import { formatSize } from "../../format/units.ts";
import { type LocalFlags, readLocalConfig, showPath } from "../../local.ts";
import { backupForm, missingText, refusing, tellObjects } from "./backup-form.ts";

/** A folder, or a place in a bucket. */
export async function placeOf(
  from: string,
  { backup }: Pick<Config, "backup">,
  { cwd }: Pick<Context, "cwd">,
): Promise<string | BackupInBucket> {
  if (!isBucketUrl(from)) return resolve(cwd, from);
  const { backupInBucket } = await import("../../../src/app/backup-places.ts");
  return backupInBucket(from, backup.service);
}

export function objectPlaces({ assets }: Pick<Config, "assets">, copy: string | undefined): ObjectPlaces {
  const parsed = copy === undefined ? undefined : parseBucketUrl(copy);
  if (parsed !== undefined && "expected" in parsed) throw usage(`--bucket must be ${parsed.expected}.`);
  return { assets, copy };
}

/** Reads a whole backup and looks for what it names elsewhere. Writes nothing. */
export async function checkBackup(
  from: string,
  options: LocalFlags & { readonly bucket?: string },
  context: Context,
  output: Output,
): Promise<void> {
  if (from === "-")
    throw usage("An archive can be checked only by restoring it; a folder or a bucket is read.");
  const config = readLocalConfig(options, context);
  const places = objectPlaces(config, options.bucket);
  const { checkBackupAt } = await import("../../../src/app/restore-local.ts");
  const place = await placeOf(from, config, context);
  const checked = await refusing(() => checkBackupAt(place, places));
  const { path, files, sizeBytes } = checked;
  if (checked.missing.length > 0)
    output.warn(missingText(checked.missing, "The data folder lacked, when it was backed up,"));
  output.done(`The backup is whole: ${files} files, ${formatSize(sizeBytes)}.`);
  const isAllThere = tellObjects(checked, output);
  output.show(
    { ...backupForm(checked), path },
    () => `${isBucketUrl(path) ? path : showPath(path, context.cwd)}\n`,
  );
  if (isAllThere) return;
  throw new Failure(
    EXIT.error,
    "objects_missing",
    "The backup is whole, and not all of its files are in the bucket.",
    { hint: "Put them back from a version or a copy of the bucket; --bucket looks in a copy." },
  );
}
