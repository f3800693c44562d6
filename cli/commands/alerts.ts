import type { Command } from "commander";
import type { JsonObject } from "../../src/domain/json.ts";
import type { Repeat } from "../client/admin.ts";
import { addCommands, type Invocation, onRun } from "../command.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { Failure, usage } from "../failure.ts";
import { column } from "../format/table.ts";
import { withExamples } from "../help/manual.ts";
import { readLocalConfig } from "../local.ts";
import { objectsIn, textIn, textsIn } from "../manage/fields.ts";
import { addManagedCommand, connectAsOperator } from "../manage/managed.ts";
import { choosePlace, type PlaceFlags } from "../manage/place.ts";

const COLUMNS = [column.text("TO"), column.text("ON", 2), column.word("SENT"), column.text("ERROR", 3)];

export function defineAlerts(alerts: Command, context: Context, [word]: readonly string[]): void {
  addCommands(alerts, context, { test: addTest }, word);
}

function addTest(alerts: Command, context: Context): void {
  const about = "tell every target of the settings that this is a test, and say which could be told";
  const command = addManagedCommand(alerts, "test", about);
  withExamples(command, "svc alerts test", ["svc alerts test --json", "for programs"]);
  onRun<PlaceFlags>(command, context, runTest);
}

async function runTest({ context, options, output }: Invocation<PlaceFlags>): Promise<void> {
  const targets =
    choosePlace(options, context) === "server"
      ? objectsIn(
          await connectAsOperator(options, context, output).send("POST", "/alerts/test", undefined, TOLD),
          "targets",
        )
      : await testHere(options, context);
  if (targets.length === 0)
    throw usage("There are no targets in the settings.", "They go below alerts in svc.yaml.");
  const rows = targets.map((target) => [
    ...[textIn(target, "to"), textsIn(target, "on").join(",")],
    ...[target.sent === true ? "yes" : "no", String(target.error ?? "")],
  ]);
  await output.list({ targets }, COLUMNS, rows);
  const first = targets.find(({ sent }) => sent !== true);
  if (first === undefined) return;
  throw new Failure(
    EXIT.error,
    "not_sent",
    `${textIn(first, "to")} could not be told: ${String(first.error)}.`,
  );
}

const TOLD: Repeat = { kind: "never", check: "svc logs" };

async function testHere(options: PlaceFlags, context: Context): Promise<readonly JsonObject[]> {
  // Loaded late: it imports what only a server needs.
  const { testAlerts } = await import("../../src/app/alerting.ts");
  const tried = await testAlerts(readLocalConfig(options, context), context.interruptible());
  return tried.map(({ to, on, error }) => ({
    ...{ to, on: [...on], sent: error === undefined, error: error ?? null },
  }));
}
