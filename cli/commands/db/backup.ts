import { resolve } from "node:path";
import type { Command } from "commander";
import type { BackupOrder } from "../../../src/app/make-backup.ts";
import { backedUpAssets } from "../../../src/config/assets.ts";
import { isBucketUrl } from "../../../src/config/buckets.ts";
import type { Config } from "../../../src/config/config.ts";
import { type Invocation, onRun } from "../../command.ts";
import type { Context } from "../../context.ts";
import { EXIT } from "../../exit-codes.ts";
import { Failure, usage } from "../../failure.ts";
import type { Output } from "../../format/output.ts";
import { formatSize } from "../../format/units.ts";
import { withExamples, withNotes } from "../../help/manual.ts";
import { readLocalConfig, showPath } from "../../local.ts";
import { countIn, textIn } from "../../manage/fields.ts";
import { addManagedCommand, connectAsOperator } from "../../manage/managed.ts";
import { choosePlace, type PlaceFlags } from "../../manage/place.ts";
import { type BackupSummary, backupForm, missingText, refusing } from "./backup-form.ts";

interface BackupFlags extends PlaceFlags {
  readonly keep?: string;
  readonly withoutSecretKey?: boolean;
  readonly claim?: boolean;
}

export function addBackup(db: Command, context: Context): void {
  const about =
    "back up a data folder into a folder of backups, a bucket (s3://bucket/prefix), or as a tar archive to standard output (-)";
  const command = addManagedCommand(db, "backup [to]", about);
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
    ["svc db backup --server https://svc.example.com", "has a server back up to its own backup.to"],
  );
  withNotes(
    command,
    "A server may run meanwhile; the backup has one moment of it. Settings in variables, and in a file outside the data folder, are not in it.",
  );
  onRun<BackupFlags>(command, context, async (invocation) => {
    if (choosePlace(invocation.options, context) === "server") return await backUpServer(invocation);
    await backUpFolder(invocation);
  });
}

async function backUpFolder({ args, options, context, output }: Invocation<BackupFlags>): Promise<void> {
  const [to] = args;
  if (to === undefined)
    throw usage("Say where to: a folder of backups, s3://bucket/prefix, or - for standard output.");
  const config = readLocalConfig(options, context);
  if (config.database !== undefined) throw ownMeans();
  const order = {
    ...{ dataDir: config.dataDir, assets: backedUpAssets(config), atMs: Date.now() },
    isWithoutKey: options.withoutSecretKey === true,
  };
  const { isOfBackup, makeBackup, makeBackupInBucket } = await import("../../../src/app/make-backup.ts");
  // A backup stays as it was made.
  if (!isOfBackup(config)) await note(to, config, context, output);
  if (to === "-") return await writeOut(order, options, context, output);
  const keep = keepOf(options.keep);
  const { claim: isClaimed = false } = options;
  if (isClaimed && !isBucketUrl(to))
    throw usage("--claim belongs to a place in a bucket: s3://bucket/prefix.");
  const { bucketPlace } = await import("../../../src/app/backup-places.ts");
  const made = await refusing(async () =>
    isBucketUrl(to)
      ? makeBackupInBucket({ ...order, place: bucketPlace(to, config.backup.service), keep, isClaimed })
      : makeBackup({ ...order, to: resolve(context.cwd, to), keep }),
  );
  tellMissing(made, output);
  if (made.objects > 0)
    output.say(
      `${made.objects === 1 ? "1 file lies" : `${made.objects} files lie`} in the bucket ${made.bucket?.name}; the backup has their list, and no copy.`,
    );
  const { path, copiedBytes, removed } = made;
  for (const name of removed) output.say(`Removed the old backup ${name}.`);
  const form = { ...backupForm(made), data_dir: config.dataDir, path, copied_bytes: copiedBytes, removed };
  output.done(
    `Backed up ${made.files} files, ${formatSize(made.sizeBytes)}; ${formatSize(copiedBytes)} of them are new.`,
  );
  output.show(form, () => `${isBucketUrl(path) ? path : showPath(path, context.cwd)}\n`);
}

async function note(to: string, config: Config, context: Context, output: Output): Promise<void> {
  const { tryNoteLocally } = await import("../../../src/app/note-locally.ts");
  const noted = await tryNoteLocally(config, {
    ...{ action: "backup.create", object: { kind: "server", id: "backups" } },
    after: { to: isBucketUrl(to) || to === "-" ? to : resolve(context.cwd, to) },
  });
  if (noted !== undefined) output.warn(`This could not be noted in the trail: ${noted}`);
}

/** A server writes to the place of its own settings alone: a token must not choose a folder of its machine. */
async function backUpServer(invocation: Invocation<BackupFlags>): Promise<void> {
  const { args, options, context, output } = invocation;
  const { keep, withoutSecretKey, claim } = options;
  if (args[0] !== undefined || keep !== undefined || withoutSecretKey === true || claim === true)
    throw usage(
      "A server backs up to its own backup.to, as its settings say.",
      "Leave out the place and the other flags, or give --local for the data folder here.",
    );
  const calls = connectAsOperator(options, context, output);
  const { runJob } = await import("../../manage/remote-files.ts");
  const made = await runJob(calls, "/backups");
  const [files, bytes, copied] = [
    countIn(made, "files"),
    countIn(made, "bytes"),
    countIn(made, "copied_bytes"),
  ];
  const missing = countIn(made, "missing");
  if (missing > 0) output.warn(`${missing} files that its database names are not there: svc assets verify`);
  output.done(`Backed up ${files} files, ${formatSize(bytes)}; ${formatSize(copied)} of them are new.`);
  output.show({ server: calls.server, ...made }, () => `${textIn(made, "path")}\n`);
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
  const made = await refusing(() => streamBackup(order, (bytes) => stdout.writeBytes(bytes, true)));
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

/** Nothing of a PostgreSQL database lies in the folder. */
function ownMeans(): Failure {
  const message = "The settings name a PostgreSQL database, and this backs up a data folder.";
  return new Failure(EXIT.config, "database_elsewhere", message, {
    hint: "Use pg_dump for a copy of one moment, or pg_basebackup with archived logs to come back to any moment.",
  });
}
