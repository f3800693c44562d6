import type { Command } from "commander";
import type { Stored } from "../../src/app/local-store.ts";
import { describeArgument, onRun, withCommonFlags } from "../command.ts";
import type { Context } from "../context.ts";
import { withExamples } from "../help/manual.ts";
import { type LocalFlags, readLocalConfig, showPlace, withLocalFlags } from "../local.ts";

export function defineMigrate(command: Command, context: Context): void {
  describeArgument(withLocalFlags(withCommonFlags(command)), "what to do (default up)", ["up", "status"]);
  withExamples(command, "svc migrate", ["svc migrate status", "change nothing"]);
  onRun<LocalFlags>(command, context, async ({ args, options, output }) => {
    const action = args[0] === "status" ? "status" : "up";
    const config = readLocalConfig(options, context);
    const { migrateLocal } = await import("../../src/app/migrate-local.ts");
    const report = await migrateLocal(config, action, ({ name, slice: at }) =>
      output.change(
        at === undefined
          ? name
          : `${name}: step ${at.step} of ${at.steps}, ${at.table} ${at.rows} of ${at.of}`,
      ),
    );
    await noteMigrations(config, report.applied);
    const place = `${showPlace(config, context)}: ${report.current} of ${report.latest} migrations applied`;
    const lines = [
      place,
      ...report.applied.map((name) => `applied  ${name}`),
      ...report.pending.map((name) => `pending  ${name}`),
    ];
    output.show({ data_dir: config.dataDir, ...report }, () => `${lines.join("\n")}\n`);
  });
}

/** Noted afterwards: the trail may be one of the tables that were made. */
async function noteMigrations(config: Stored, applied: readonly string[]): Promise<void> {
  if (applied.length === 0) return;
  const { noteLocally } = await import("../../src/app/note-locally.ts");
  const object = { kind: "server", id: "database" } as const;
  await noteLocally(config, { action: "database.migrate", object, after: { applied: [...applied] } });
}
