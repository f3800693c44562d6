import { join } from "node:path";
import type { Command } from "commander";
import type { Restored } from "../../../src/app/restore-local.ts";
import type { Config } from "../../../src/config/config.ts";
import { ConfigError } from "../../../src/config/problem.ts";
import { addCommand, given, onRun, withCommonFlags } from "../../command.ts";
import type { Context } from "../../context.ts";
import type { Output } from "../../format/output.ts";
import { formatSize, formatTime } from "../../format/units.ts";
import { withExamples, withNotes } from "../../help/manual.ts";
import { type LocalFlags, readLocalConfig, showPath, withLocalFlags } from "../../local.ts";
import { backupForm, missingText, refusing, tellObjects } from "./backup-form.ts";
import { checkBackup, objectPlaces, placeOf } from "./check-backup.ts";

interface RestoreFlags extends LocalFlags {
  readonly dryRun?: boolean;
  readonly submitAgain?: boolean;
  readonly bucket?: string;
}

export function addRestore(db: Command, context: Context): void {
  const about =
    "make a new data folder of a backup, of the newest in a folder or bucket (s3://bucket/prefix) of backups, or of a tar archive (-)";
  const command = withLocalFlags(withCommonFlags(addCommand(db, "restore <from>", about)));
  command
    .option("--dry-run", "read the whole backup and check it; write nothing")
    .option(
      "--submit-again",
      "let tasks run that no provider has taken yet, in place of ending them uncharged; only where no server ran on the old folder after the backup",
    )
    .option("--bucket <url>", "look for the files in this copy of the service's bucket (s3://bucket/prefix)");
  withExamples(
    command,
    "svc db restore /backups/svc --data-dir ./svc-restored",
    ["svc db restore /backups/svc --dry-run", "is the newest backup whole?"],
    "svc db restore s3://backups/svc --data-dir ./svc-restored",
    "svc db restore - --data-dir ./svc-restored <svc.tar",
  );
  withNotes(
    command,
    "What the service did after the backup is not known to the new folder: keys and tokens that were revoked since are valid again, money that moved since has not, and tasks that came since are not there. Never let both folders serve.",
  );
  onRun<RestoreFlags>(command, context, async ({ args, options, output }) => {
    const from = given(args, 0);
    if (options.dryRun === true) return await checkBackup(from, options, context, output);
    const config = readLocalConfig(options, context);
    const { dataDir } = config;
    const [{ restoreLocal }, places] = await Promise.all([
      import("../../../src/app/restore-local.ts"),
      objectPlaces(config, options.bucket),
    ]);
    const source = from === "-" ? Bun.stdin.stream() : await placeOf(from, config, context);
    const order = { dataDir, from: source, submitsAgain: options.submitAgain === true, places };
    const restored = await refusing(() => restoreLocal(order));
    tell(restored, output);
    const place = showPath(dataDir, context.cwd);
    warnOfOtherPlace(dataDir, options, context, output);
    const form = {
      ...backupForm(restored),
      data_dir: dataDir,
      ended_tasks: restored.ended,
      live_tasks: restored.live,
    };
    output.show(form, () => `${place}\n`);
    if (options.bucket !== undefined)
      output.say(
        `The settings decide where a server looks for files: see that assets.bucket and assets.prefix name ${options.bucket}.`,
      );
    const claim = restored.found === undefined ? "" : `svc assets claim --data-dir ${place}, `;
    output.say(`Next: svc audit --data-dir ${place}, ${claim}then svc serve --data-dir ${place}`);
  });
}

/** The settings of the backup may name a folder for files, and a restore writes into the new one alone. */
function warnOfOtherPlace(dataDir: string, flags: LocalFlags, context: Context, output: Output): void {
  const own = join(dataDir, "assets");
  const config = settingsOf(flags, context);
  if (config === undefined) {
    output.warn("The settings of the backup cannot be used here; `svc config validate` says why.");
    return;
  }
  const { assets, backup } = config;
  if (assets.path !== own)
    output.warn(
      `The settings say that files are in ${assets.path}; those of the backup are in ${own}. Move them there, or change assets.path, before a server starts.`,
    );
  if (backup.everyMs !== undefined)
    output.warn(
      `The settings have a server back this folder up to ${backup.to}, among the backups that are there. Where this is a trial, start it with --backup-every off.`,
    );
}

/** The folder is restored, whatever its settings are. */
function settingsOf(flags: LocalFlags, context: Context): Config | undefined {
  try {
    return readLocalConfig(flags, context);
  } catch (error) {
    if (error instanceof ConfigError) return undefined;
    throw error;
  }
}

function tell(restored: Restored, output: Output): void {
  const { files, sizeBytes, madeAtMs, ended, missing, leftOut } = restored;
  output.done(
    `Restored ${files} files, ${formatSize(sizeBytes)}, of a backup of ${formatTime(madeAtMs)}. Everything later is not in it.`,
  );
  if (missing.length > 0) output.warn(missingText(missing, "The data folder lacked, when it was backed up,"));
  if (leftOut.length > 0)
    output.warn(
      `${leftOut.join(", ")} is not in the backup: put it into the folder, or give SVC_SECRET_KEY, before a server starts.`,
    );
  tellObjects(restored, output);
  if (ended > 0)
    output.warn(
      ended === 1
        ? "1 task failed, uncharged: no provider was known to have it, and one may have made it after the backup."
        : `${ended} tasks failed, uncharged: no provider was known to have them, and one may have made them after the backup.`,
    );
}
