import { type Command, Option } from "commander";
import { addCommand, onRun, withCommonFlags } from "../../command.ts";
import type { Context } from "../../context.ts";
import { EXIT } from "../../exit-codes.ts";
import { Failure } from "../../failure.ts";
import { formatSize } from "../../format/units.ts";
import { withExamples, withNotes } from "../../help/manual.ts";
import { type LocalFlags, readLocalConfig, withLocalFlags } from "../../local.ts";

interface Flags extends LocalFlags {
  readonly to: "s3" | "folder";
  readonly dryRun?: boolean;
}

const PLACES = { s3: "the bucket", folder: "the folder" };

export function addMove(assets: Command, context: Context): void {
  const command = withLocalFlags(
    withCommonFlags(
      addCommand(assets, "move", "move the stored files to the bucket of the settings, or back"),
    ),
  );
  command
    .addOption(new Option("--to <place>", "s3 or folder").choices(["s3", "folder"]).makeOptionMandatory())
    .addOption(new Option("--dry-run", "change nothing; tell what would be moved"));
  withExamples(command, "svc assets move --to s3 --dry-run", "svc assets move --to s3");
  withNotes(
    command,
    "Safe while a server runs that was started with the same bucket: each file is whole in the new place before it leaves the old one. When it is ended, run it again. New files go where assets.store says.",
  );
  onRun<Flags>(command, context, async ({ options, output }) => {
    const config = readLocalConfig(options, context);
    const { moveAssets } = await import("../../../src/app/move-assets.ts");
    const { to, dryRun: isTrial = false } = options;
    const onFile = (so: number) => void (so % 20 === 0 && output.progress(`${so} files so far`));
    const moved = await moveAssets(config, { to, isTrial, onFile }).catch(refuse);
    output.clear();
    const { files, bytes, damaged } = moved;
    const what = `${files} ${files === 1 ? "file" : "files"}, ${formatSize(bytes)}, to ${PLACES[to]}`;
    output.show({ to, dry_run: isTrial, files, size_bytes: bytes, damaged }, () =>
      damaged.map((sha256) => `changed\t${sha256}\n`).join(""),
    );
    if (!isTrial && config.assets.store !== to)
      output.say(`New files still go to ${PLACES[config.assets.store]}: assets.store says so.`);
    if (damaged.length === 0)
      return isTrial ? output.say(`Would move ${what}.`) : output.done(`Moved ${what}.`);
    const message = `${damaged.length} files have other bytes than their names say, and stay where they are; ${files} are moved.`;
    throw new Failure(EXIT.error, "files_damaged", message, {
      hint: "Put them back from a backup and move again; svc assets verify tells their tasks.",
    });
  });
}

function refuse(error: unknown): never {
  if (!(error instanceof Error) || error.name !== "CannotMove") throw error;
  throw new Failure(EXIT.conflict, "cannot_move", error.message, { cause: error });
}
