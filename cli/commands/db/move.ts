import { resolve } from "node:path";
import type { Command } from "commander";
import type { FileMoveOptions } from "../../../src/app/move-files.ts";
import type { MovedAll, MoveProgress } from "../../../src/app/move-local.ts";
import { isBucketUrl } from "../../../src/config/buckets.ts";
import type { Config } from "../../../src/config/config.ts";
import { completePostgresUrl } from "../../../src/config/database.ts";
import { AddressError } from "../../../src/toolkit/postgres-address.ts";
import { addCommand, onRun, withCommonFlags } from "../../command.ts";
import type { Context } from "../../context.ts";
import { EXIT } from "../../exit-codes.ts";
import { Failure, usage } from "../../failure.ts";
import type { Output } from "../../format/output.ts";
import { formatSize } from "../../format/units.ts";
import { withExamples, withNotes } from "../../help/manual.ts";
import { type LocalFlags, readLocalConfig, showPath, showPlace, withLocalFlags } from "../../local.ts";
import { refusing } from "./backup-form.ts";

interface MoveFlags extends LocalFlags {
  readonly to: string;
  readonly assets?: string;
}

export function addMove(db: Command, context: Context): void {
  const about = "move all tasks, money and keys from a data folder into a PostgreSQL database, or back";
  const command = withLocalFlags(withCommonFlags(addCommand(db, "move", about))).requiredOption(
    "--to <place>",
    "an empty PostgreSQL database (postgres://user@host/name), or a data folder",
  );
  command.option(
    "--assets <place>",
    "copy the stored files, too: into a folder, or below s3://bucket/prefix, which assets.endpoint and the like say how to reach",
  );
  withExamples(
    command,
    "svc db move --to postgres://svc@db.example.com/svc --data-dir ./svc-data",
    [
      "svc db move --to postgres://svc@db.example.com/svc --assets s3://media/svc",
      "with the files, into a bucket",
    ],
    ["svc db move --database postgres://svc@db.example.com/svc --to ./svc-data", "and back"],
  );
  withNotes(
    command,
    "No server may run on either side. A move that was cut off goes on when the command is repeated; if something was written since, give another empty place. At its end the rows are compared and the books checked on both sides. Without --assets, stored files stay where they are: nodes share their folder (--assets-path) or their bucket. With it they are copied, each found right by its hash, before the new place can be served; the old copies stay until you remove them. A password in --to can be seen by other users of the machine; PostgreSQL's .pgpass needs none.",
  );
  onRun<MoveFlags>(command, context, async ({ options, output }) => {
    const config = readLocalConfig(options, context);
    const isShared = /^postgres(?:ql)?:/.test(options.to);
    if (isShared === (config.database !== undefined))
      throw usage(
        isShared
          ? "Both places are PostgreSQL databases; pg_dump copies one into another."
          : "Both places are data folders; `svc db backup` and `svc db restore` copy one into another.",
      );
    const { moveToFolder, moveToShared } = await import("../../../src/app/move-local.ts");
    const files = await refusing(() => filesToMove(options, config, context, output));
    const tell = ({ table, rows, of }: MoveProgress) => output.change(`${table}: ${rows} of ${of}`);
    const how = { tell, files, path: config.assets.path };
    const { database } = config;
    const folder = resolve(context.cwd, options.to);
    const moved = await refusing(() =>
      database === undefined
        ? moveToShared(config, completed(options.to, config.databaseDriver, context), how)
        : moveToFolder(database.reveal(), folder, how),
    );
    const place = database === undefined ? showPlace(config, context) : showPath(folder, context.cwd);
    tellMoved(moved, { ...options, place, isShared }, output);
    refuseDamaged(moved.files);
  });
}

/** The address with what variables and the password file say of it. */
function completed(url: string, driver: Config["databaseDriver"], { env }: Context): string {
  try {
    return completePostgresUrl(url, env, driver);
  } catch (error) {
    if (error instanceof AddressError) throw usage(`--to ${error.message}.`);
    throw error;
  }
}

function tellMoved(
  moved: MovedAll,
  { place, assets, isShared }: Pick<MoveFlags, "assets"> & { place: string; isShared: boolean },
  output: Output,
): void {
  const { tables, files } = moved;
  output.clear();
  output.show(formOf(moved), () => `${tables.map(({ table, rows }) => `${table}\t${rows}\n`).join("")}`);
  if (files !== undefined)
    output.done(`Files copied to ${assets}: ${files.files} (${formatSize(files.bytes)}).`);
  output.say(
    isShared
      ? `All is there. ${place} is not served again. Next: svc serve --database URL, on each node with the same SVC_SECRET_KEY (as in secret.key) and the same folder or bucket of files.`
      : `All is there. Next: svc audit --data-dir ${place}, then svc serve --data-dir ${place}`,
  );
}

/** Which files go where, as the flags and the settings say. */
async function filesToMove(
  { assets }: MoveFlags,
  config: Config,
  { cwd }: Context,
  output: Output,
): Promise<FileMoveOptions | undefined> {
  if (assets === undefined) return undefined;
  const { filesPlaceOf } = await import("../../../src/app/move-files.ts");
  const named = isBucketUrl(assets) ? assets : resolve(cwd, assets);
  const onFile = (so: number) => void (so % 20 === 0 && output.progress(`${so} files so far`));
  return { from: config.assets, to: filesPlaceOf(named, config.assets), onFile };
}

/** The rows are where they were to go, and so is every file that is what its name says. */
function refuseDamaged(files: MovedAll["files"]): void {
  const damaged = files?.damaged.length ?? 0;
  if (damaged === 0) return;
  const message = `${damaged} files have other bytes than their names say, and were not copied; all else was moved.`;
  throw new Failure(EXIT.error, "files_damaged", message, {
    hint: "svc assets verify tells their tasks. A backup may have those files: put them where the others are now.",
  });
}

function formOf({ tables, audit, files }: MovedAll) {
  return {
    tables: tables.map((each) => ({ ...each })),
    differences: audit.differences.length,
    files:
      files === undefined
        ? null
        : { files: files.files, size_bytes: files.bytes, damaged: [...files.damaged] },
  };
}
