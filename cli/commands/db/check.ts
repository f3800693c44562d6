import type { Command } from "commander";
import type { DatabaseCheck } from "../../../src/domain/ports/database-check.ts";
import { databaseCheckForm } from "../../../src/domain/upkeep.ts";
import { type Invocation, onRun } from "../../command.ts";
import type { Context } from "../../context.ts";
import { EXIT } from "../../exit-codes.ts";
import { Failure, usage } from "../../failure.ts";
import type { Output } from "../../format/output.ts";
import { type Field, renderFields } from "../../format/table.ts";
import { formatSize } from "../../format/units.ts";
import { withExamples } from "../../help/manual.ts";
import { readLocalConfig, showPlace } from "../../local.ts";
import { addManagedCommand, connectAsOperator } from "../../manage/managed.ts";
import { choosePlace, type PlaceFlags } from "../../manage/place.ts";
import { checkBackup } from "./check-backup.ts";

export function addCheck(db: Command, context: Context): void {
  const about =
    "read the whole database and report damage, a server may run meanwhile; or a whole backup, in a folder or a bucket";
  const command = addManagedCommand(db, "check [backup]", about);
  command.option("--bucket <url>", "look for a backup's files in this copy of the service's bucket");
  withExamples(
    command,
    "svc db check",
    ["svc db check --field ok", "true or false"],
    [
      "svc db check s3://backups/svc",
      "is the newest backup whole, and are its files in the service's bucket?",
    ],
  );
  onRun<PlaceFlags & { bucket?: string }>(command, context, async ({ args, options, output }) => {
    const [backup] = args;
    if (backup !== undefined) return await checkBackup(backup, options, context, output);
    if (options.bucket !== undefined)
      throw usage("--bucket belongs to a backup: svc db check BACKUP --bucket URL.");
    const { found, place, at } = await checkAt({ args, options, context, output });
    output.show({ ...place, ...databaseCheckForm(found) }, () => checkText(found, output));
    if (found.faults.length === 0) return;
    const count = found.faults.length === 1 ? "a fault" : `${found.faults.length} faults`;
    // Another version's database says itself what to do.
    const isDamaged = found.faults.some(({ kind }) => kind !== "schema");
    throw new Failure(EXIT.error, "database_faulty", `The database ${at} has ${count}.`, {
      hint: isDamaged
        ? "Stop the server, keep a copy of the folder as it is, and restore a backup: svc db restore."
        : undefined,
    });
  });
}

/** Has the database of a data folder or a server checked. */
async function checkAt({ options, context, output }: Invocation<PlaceFlags>) {
  if (choosePlace(options, context) === "server") {
    const calls = connectAsOperator(options, context, output);
    const { databaseCheckOf } = await import("../../manage/answers.ts");
    const found = databaseCheckOf(await calls.get("/database"));
    return { found, place: { server: calls.server }, at: `on ${calls.server}` };
  }
  const config = readLocalConfig(options, context);
  const { checkLocal } = await import("../../../src/app/check-local.ts");
  const at = `in ${showPlace(config, context)}`;
  return { found: await checkLocal(config), place: { data_dir: config.dataDir }, at };
}

function checkText({ faults, schema, fileBytes, walBytes, pages }: DatabaseCheck, output: Output): string {
  const fields: Field[] = [
    ["database", formatSize(fileBytes)],
    ["write-ahead log", formatSize(walBytes)],
  ];
  if (pages !== undefined)
    fields.push([
      "free in it",
      `${formatSize(pages.free * pages.sizeBytes)} in ${pages.free} of ${pages.count} pages`,
    ]);
  if (schema.current !== undefined) fields.push(["migrations", `${schema.current} of ${schema.latest}`]);
  const { style } = output;
  const lines = faults.map(({ kind, message }) => `${style.red("fault")}\t${kind}\t${message}\n`);
  const end = faults.length === 0 ? `${style.green("ok")}\n` : lines.join("");
  return `${renderFields(fields, output)}${end}`;
}
