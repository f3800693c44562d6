import type { Command } from "commander";
import { addCommand, onRun, withCommonFlags } from "../../command.ts";
import type { Context } from "../../context.ts";
import { EXIT } from "../../exit-codes.ts";
import { Failure } from "../../failure.ts";
import { formatSize } from "../../format/units.ts";
import { withExamples } from "../../help/manual.ts";
import { type LocalFlags, readLocalConfig, showPath, withLocalFlags } from "../../local.ts";

export function addVacuum(db: Command, context: Context): void {
  const about = "give the database's free pages back to the disk; refused while a server runs";
  const command = withLocalFlags(withCommonFlags(addCommand(db, "vacuum", about)));
  withExamples(command, "svc db vacuum");
  onRun<LocalFlags>(command, context, async ({ options, output }) => {
    const config = readLocalConfig(options, context);
    const { vacuumLocal } = await import("../../../src/app/check-local.ts");
    const { tryNoteLocally } = await import("../../../src/app/note-locally.ts");
    const object = { kind: "server", id: "database" } as const;
    const noted = await tryNoteLocally(config, { action: "database.vacuum", object, after: { asked: true } });
    if (noted !== undefined) output.warn(`This could not be noted in the trail: ${noted}`);
    const { beforeBytes, afterBytes } = refusing(() => vacuumLocal(config));
    output.show(
      { data_dir: config.dataDir, before_bytes: beforeBytes, after_bytes: afterBytes },
      () =>
        `${showPath(config.dataDir, context.cwd)}: ${beforeBytes} bytes before (${formatSize(beforeBytes)}), ${afterBytes} after (${formatSize(afterBytes)})\n`,
    );
  });
}

/** A server could not write for as long as it takes. */
function refusing<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof Error) || error.name !== "DataDirectoryBusy") throw error;
    throw new Failure(EXIT.conflict, "server_runs", error.message, {
      hint: "Nothing could be written to the database for as long as it takes, so the server has to be stopped first.",
      cause: error,
    });
  }
}
