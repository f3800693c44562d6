import type { Command } from "commander";
import { addCommand, withCommonFlags } from "../../command.ts";
import type { Context } from "../../context.ts";
import { EXIT } from "../../exit-codes.ts";
import { Failure } from "../../failure.ts";
import { formatSize } from "../../format/units.ts";
import { withExamples, withNotes } from "../../help/manual.ts";
import { onLocalRun, withLocalFlags } from "../../local.ts";

export function addVerify(assets: Command, context: Context): void {
  const command = withLocalFlags(
    withCommonFlags(addCommand(assets, "verify", "read every stored file and compare it with its hash")),
  );
  withExamples(command, "svc assets verify", [
    "svc assets verify --json",
    "the damaged files and their tasks",
  ]);
  withNotes(
    command,
    "Ends with exit code 1 if a file is missing or changed. The status of a task whose result it is says so from then on, until a later run finds the file whole again: put it back from a backup.",
  );
  onLocalRun(command, context, async ({ output, open }) => {
    const files = await (await open()).assets();
    const {
      files: count,
      bytes,
      damaged,
    } = await files.verify((so) => {
      if (so % 100 === 0) output.progress(`${so} files so far`);
    });
    output.clear();
    const form = damaged.map(({ sha256, what, tasks }) => ({ sha256, what, tasks }));
    output.show({ files: count, size_bytes: bytes, damaged: form }, () =>
      damaged.map(({ sha256, what, tasks }) => `${what}\t${sha256}\t${tasks.join(" ")}\n`).join(""),
    );
    if (damaged.length === 0) return output.done(`${count} files are whole (${formatSize(bytes)}).`);
    const message = `${damaged.length} of ${count} files ${damaged.length === 1 ? "is" : "are"} damaged.`;
    throw new Failure(EXIT.error, "files_damaged", message, {
      hint: "Put them back from a backup and verify again, or delete their tasks.",
    });
  });
}
