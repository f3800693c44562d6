import type { Command } from "commander";
import { LOCAL_COMMANDS, onRun } from "../command.ts";
import type { Context } from "../context.ts";
import { usage } from "../failure.ts";
import { withExamples } from "../help/manual.ts";
import { addLocalCommand, type LocalFlags, readLocalConfig, showPath } from "../local.ts";

export function addMigrate(program: Command, context: Context): void {
  const description = "bring the database up to date (up), or show its migrations (status)";
  const command = addLocalCommand(program, "migrate [action]", description).helpGroup(LOCAL_COMMANDS);
  withExamples(command, "svc migrate", ["svc migrate status", "change nothing"]);
  onRun<LocalFlags>(command, context, async ({ args, options, output }) => {
    const action = args[0] ?? "up";
    if (action !== "up" && action !== "status")
      throw usage(`"${action}" is not an action of migrate; use up or status.`);
    const config = readLocalConfig(options, context);
    const { migrateLocal } = await import("../../src/app/local.ts");
    const report = migrateLocal(config, action);
    const place = `${showPath(config.dataDir, context.cwd)}: ${report.current} of ${report.latest} migrations applied`;
    const lines = [
      place,
      ...report.applied.map((name) => `applied  ${name}`),
      ...report.pending.map((name) => `pending  ${name}`),
    ];
    output.show({ data_dir: config.dataDir, ...report }, () => `${lines.join("\n")}\n`);
  });
}
