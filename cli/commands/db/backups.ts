import { resolve } from "node:path";
import type { Command } from "commander";
import { isBucketUrl } from "../../../src/config/buckets.ts";
import { type Invocation, onRun } from "../../command.ts";
import type { Context } from "../../context.ts";
import { usage } from "../../failure.ts";
import { column } from "../../format/table.ts";
import { formatTime } from "../../format/units.ts";
import { withExamples } from "../../help/manual.ts";
import { readLocalConfig } from "../../local.ts";
import { optionalTextIn, textsIn } from "../../manage/fields.ts";
import { addManagedCommand, connectAsOperator } from "../../manage/managed.ts";
import { choosePlace, type PlaceFlags } from "../../manage/place.ts";
import { refusing } from "./backup-form.ts";

const COLUMNS = [column.word("BACKUP"), column.word("MADE", 1)];

export function addBackups(db: Command, context: Context): void {
  const about =
    "list the whole backups in a folder or a bucket, newest first; those of backup.to unless it is given";
  const command = addManagedCommand(db, "backups [from]", about);
  withExamples(command, "svc db backups /backups/svc", "svc db backups s3://backups/svc", [
    "svc db backups --server https://svc.example.com",
    "those that a server makes",
  ]);
  onRun<PlaceFlags>(command, context, async (invocation) => {
    const { output } = invocation;
    const isServers = choosePlace(invocation.options, context) === "server";
    const { place, names } = isServers ? await listOnServer(invocation) : await listHere(invocation);
    const { datedBackups } = await import("../../../src/app/backup-places.ts");
    const dated = datedBackups(names);
    const backups = dated.map(({ name, madeAt }) => ({ name, made_at: Math.floor(madeAt / 1000) }));
    const rows = dated.map(({ name, madeAt }) => [name, formatTime(madeAt)]);
    await output.list({ place, backups }, COLUMNS, rows);
    if (backups.length === 0) output.say(`There is no whole backup in ${place}.`);
  });
}

interface Listed {
  readonly place: string;
  /** Newest first. */
  readonly names: readonly string[];
}

async function listHere({ args, options, context }: Invocation<PlaceFlags>): Promise<Listed> {
  const config = readLocalConfig(options, context);
  const [from = config.backup.to] = args;
  if (from === undefined)
    throw usage(
      "Say where they are: a folder of backups, or s3://bucket/prefix.",
      "Or set backup.to in svc.yaml.",
    );
  const { backupsAt, bucketPlace } = await import("../../../src/app/backup-places.ts");
  const folder = resolve(context.cwd, from);
  const names = await refusing(async () =>
    backupsAt(isBucketUrl(from) ? bucketPlace(from, config.backup.service) : folder),
  );
  return { place: isBucketUrl(from) ? from : folder, names: names.toReversed() };
}

async function listOnServer({ args, options, context, output }: Invocation<PlaceFlags>): Promise<Listed> {
  if (args[0] !== undefined)
    throw usage(
      "A server lists its own backup.to.",
      "Leave the place out, or give --local to look in it from here.",
    );
  const calls = connectAsOperator(options, context, output);
  const answer = await calls.get("/backups");
  const problem = optionalTextIn(answer, "problem");
  if (problem !== undefined) output.warn(`${calls.server} could not list them: ${problem}`);
  return { place: optionalTextIn(answer, "to") ?? calls.server, names: textsIn(answer, "backups") };
}
