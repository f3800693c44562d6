import { Argument, type Command } from "commander";
import { LOCAL_COMMANDS, onRun } from "../command.ts";
import type { Context } from "../context.ts";
import { withExamples } from "../help/manual.ts";
import { addLocalCommand, type LocalFlags, readLocalConfig, showPath } from "../local.ts";

export function addMigrate(program: Command, context: Context): void {
  const description = "bring the database up to date (up), or show its migrations (status)";
  const command = addLocalCommand(program, "migrate", description)
    .helpGroup(LOCAL_COMMANDS)
    .addArgument(new Argument("[action]", "what to do (default up)").choices(["up", "status"]));
  withExamples(command, "svc migrate", ["svc migrate status", "change nothing"]);
  onRun<LocalFlags>(command, context, async ({ args, options, output }) => {
    const action = args[0] === "status" ? "status" : "up";
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
