import { resolve } from "node:path";
import type { Command } from "commander";
import type { Moved, MoveProgress } from "../../../src/app/move-local.ts";
import { addCommand, onRun, withCommonFlags } from "../../command.ts";
import type { Context } from "../../context.ts";
import { usage } from "../../failure.ts";
import { withExamples, withNotes } from "../../help/manual.ts";
import { type LocalFlags, readLocalConfig, showPath, showPlace, withLocalFlags } from "../../local.ts";
import { refusing } from "./backup-form.ts";

interface MoveFlags extends LocalFlags {
  readonly to: string;
}

export function addMove(db: Command, context: Context): void {
  const about = "move all tasks, money and keys from a data folder into a PostgreSQL database, or back";
  const command = withLocalFlags(withCommonFlags(addCommand(db, "move", about))).requiredOption(
    "--to <place>",
    "an empty PostgreSQL database (postgres://user@host/name), or a data folder",
  );
  withExamples(command, "svc db move --to postgres://svc@db.example.com/svc --data-dir ./svc-data", [
    "svc db move --database postgres://svc@db.example.com/svc --to ./svc-data",
    "and back",
  ]);
  withNotes(
    command,
    "No server may run on either side. A move that was cut off goes on when the command is repeated. At its end the rows are counted and the books checked on both sides. Stored files stay where they are: nodes share their folder (--assets-path), or `svc assets move` takes them to a bucket. A password in --to can be seen by other users of the machine; PostgreSQL's .pgpass needs none.",
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
    const tell = ({ table, rows, of }: MoveProgress) => output.change(`${table}: ${rows} of ${of}`);
    const { database } = config;
    const folder = resolve(context.cwd, options.to);
    const moved = await refusing(() =>
      database === undefined
        ? moveToShared(config, options.to, tell)
        : moveToFolder(database.reveal(), folder, tell),
    );
    const place = database === undefined ? showPlace(config, context) : showPath(folder, context.cwd);
    output.show(
      formOf(moved),
      () => `${moved.tables.map(({ table, rows }) => `${table}\t${rows}\n`).join("")}`,
    );
    output.say(
      database === undefined
        ? `All is there. ${place} is not served again. Next: svc serve --database URL, on each node with the same SVC_SECRET_KEY (as in secret.key) and the same folder or bucket of files.`
        : `All is there. Next: svc audit --data-dir ${place}, then svc serve --data-dir ${place}`,
    );
  });
}

function formOf({ tables, audit }: Moved) {
  return { tables: tables.map((each) => ({ ...each })), differences: audit.differences.length };
}
