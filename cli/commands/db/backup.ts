import { resolve } from "node:path";
import type { Command } from "commander";
import type { BackupOrder } from "../../../src/app/make-backup.ts";
import { backedUpAssets } from "../../../src/config/assets.ts";
import { isBucketUrl } from "../../../src/config/buckets.ts";
import { addCommand, given, onRun, withCommonFlags } from "../../command.ts";
import type { Context } from "../../context.ts";
import { usage } from "../../failure.ts";
import type { Output } from "../../format/output.ts";
import { formatSize } from "../../format/units.ts";
import { withExamples, withNotes } from "../../help/manual.ts";
import { type LocalFlags, readLocalConfig, showPath, withLocalFlags } from "../../local.ts";
import { type BackupSummary, backupForm, missingText, refusing } from "./backup-form.ts";

interface BackupFlags extends LocalFlags {
  readonly keep?: string;
  readonly withoutSecretKey?: boolean;
  readonly claim?: boolean;
}

export function addBackup(db: Command, context: Context): void {
  const about =
    "back up a data folder into a folder of backups, a bucket (s3://bucket/prefix), or as a tar archive to standard output (-)";
  const command = withLocalFlags(withCommonFlags(addCommand(db, "backup <to>", about)));
  command
    .option("--keep <backups>", "remove the oldest backups there but for as many, this one included")
    .option(
      "--without-secret-key",
      "leave secret.key out, which opens the secrets that the folder keeps sealed",
    )
    .option("--claim", "take the place in a bucket over from the data folder that has it");
  withExamples(
    command,
    ["svc db backup /backups/svc", "makes /backups/svc/<time>; copies what is new since the one before"],
    ["svc db backup /backups/svc --keep 14", "and keeps two weeks of daily ones"],
    [
      "svc db backup s3://backups/svc --keep 14",
      "into a bucket; backup.endpoint and the like say how it is reached",
    ],
    ["svc db backup - | ssh backup 'cat >svc.tar'", "to another machine"],
  );
  withNotes(
    command,
    "A server may run meanwhile; the backup has one moment of it. Settings in variables, and in a file outside the data folder, are not in it.",
  );
  onRun<BackupFlags>(command, context, async (invocation) => {
    const { args, options, output } = invocation;
    const to = given(args, 0);
    const config = readLocalConfig(options, context);
    const order = {
      ...{ dataDir: config.dataDir, assets: backedUpAssets(config), atMs: Date.now() },
      isWithoutKey: options.withoutSecretKey === true,
    };
    if (to === "-") return await writeOut(order, invocation.options, context, output);
    const keep = keepOf(options.keep);
    const { claim: isClaimed = false } = options;
    if (isClaimed && !isBucketUrl(to))
      throw usage("--claim belongs to a place in a bucket: s3://bucket/prefix.");
    const { makeBackup, makeBackupInBucket } = await import("../../../src/app/make-backup.ts");
    const { bucketPlace } = await import("../../../src/app/backup-places.ts");
    const made = await refusing(async () =>
      isBucketUrl(to)
        ? makeBackupInBucket({ ...order, place: bucketPlace(to, config.backup.service), keep, isClaimed })
        : makeBackup({ ...order, to: resolve(context.cwd, to), keep }),
    );
    tellMissing(made, output);
    if (made.objects > 0)
      output.say(`${made.objects} files lie in the bucket ${made.bucket?.name}; the backup has their list.`);
    const { path, copiedBytes, removed } = made;
    for (const name of removed) output.say(`Removed the old backup ${name}.`);
    const form = { ...backupForm(made), data_dir: config.dataDir, path, copied_bytes: copiedBytes, removed };
    output.done(
      `Backed up ${made.files} files, ${formatSize(made.sizeBytes)}; ${formatSize(copiedBytes)} of them are new.`,
    );
    output.show(form, () => `${isBucketUrl(path) ? path : showPath(path, context.cwd)}\n`);
  });
}

async function writeOut(
  order: BackupOrder,
  { json, keep }: { json?: boolean; keep?: string },
  { stdout }: Context,
  output: Output,
): Promise<void> {
  if (json === true || keep !== undefined)
    throw usage("Standard output takes the archive: neither --json nor --keep goes with it.");
  if (stdout.isTerminal)
    throw usage("An archive is no text for a terminal.", "Lead it elsewhere: svc db backup - >svc.tar");
  const { streamBackup } = await import("../../../src/app/make-backup.ts");
  const made = await refusing(() => streamBackup(order, (bytes) => stdout.writeBytes(bytes)));
  tellMissing(made, output);
  output.done(`Backed up ${made.files} files, ${formatSize(made.sizeBytes)}.`);
}

/** The backup is whole, and what it is of is not. */
function tellMissing({ missing }: BackupSummary, output: Output): void {
  if (missing.length > 0) output.warn(missingText(missing, "The data folder lacks"));
}

function keepOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const keep = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (keep === 0) throw usage("--keep takes a number of backups, from 1 on.");
  return keep;
}
