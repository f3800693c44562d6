import type { Command } from "commander";
import { addCommand, addCommands, type Invocation, onRun, withCommonFlags } from "../command.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { Failure, usage } from "../failure.ts";
import { column } from "../format/table.ts";
import { withExamples } from "../help/manual.ts";
import { type LocalFlags, readLocalConfig, withLocalFlags } from "../local.ts";

const COLUMNS = [column.text("TO"), column.text("ON", 2), column.word("SENT"), column.text("ERROR", 3)];

export function defineAlerts(alerts: Command, context: Context, [word]: readonly string[]): void {
  addCommands(alerts, context, { test: addTest }, word);
}

function addTest(alerts: Command, context: Context): void {
  const about = "tell every target of the settings that this is a test, and say which could be told";
  const command = withLocalFlags(withCommonFlags(addCommand(alerts, "test", about)));
  withExamples(command, "svc alerts test", ["svc alerts test --json", "for programs"]);
  onRun<LocalFlags>(command, context, runTest);
}

async function runTest({ context, options, output }: Invocation<LocalFlags>): Promise<void> {
  const config = readLocalConfig(options, context);
  if (config.alerts.length === 0)
    throw usage("There are no targets in the settings.", "They go below alerts in svc.yaml.");
  // Loaded late: it imports what only a server needs.
  const { testAlerts } = await import("../../src/app/alerting.ts");
  const tried = await testAlerts(config, context.interruptible());
  const failed = tried.filter(({ error }) => error !== undefined);
  const rows = tried.map(({ to, on, error }) => [
    to,
    on.join(","),
    error === undefined ? "yes" : "no",
    error ?? "",
  ]);
  const targets = tried.map(({ to, on, error }) => ({
    to,
    on,
    sent: error === undefined,
    error: error ?? null,
  }));
  await output.list({ targets }, COLUMNS, rows);
  const [first] = failed;
  if (first === undefined) return;
  throw new Failure(EXIT.error, "not_sent", `${first.to} could not be told: ${first.error ?? ""}.`);
}
