import type { Command } from "commander";
import type { Context } from "../../context.ts";
import { EXIT } from "../../exit-codes.ts";
import { Failure } from "../../failure.ts";
import { formatSize } from "../../format/units.ts";
import { withExamples, withNotes } from "../../help/manual.ts";
import { countIn, objectsIn, textIn, textsIn } from "../../manage/fields.ts";
import { addManagedCommand, onManagedRun } from "../../manage/managed.ts";

export function addVerify(assets: Command, context: Context): void {
  const command = addManagedCommand(assets, "verify", "read every stored file and compare it with its hash");
  withExamples(command, "svc assets verify", [
    "svc assets verify --json",
    "the damaged files, with the tasks and uploads that have them",
  ]);
  withNotes(
    command,
    "Ends with exit code 1 if a file is missing or changed. The status of a task whose result it is says so from then on, until a later run finds the file whole again: put it back from a backup.",
  );
  onManagedRun(command, context, async ({ output, open }) => {
    const files = await (await open()).files();
    const form = await files.verify((so) => {
      if (so % 100 === 0) output.progress(`${so} files so far`);
    });
    output.clear();
    const [count, bytes] = [countIn(form, "files"), countIn(form, "size_bytes")];
    const damaged = objectsIn(form, "damaged");
    output.show(form, () =>
      damaged
        .map(
          (each) =>
            `${textIn(each, "what")}\t${textIn(each, "sha256")}\t${[...textsIn(each, "tasks"), ...textsIn(each, "uploads")].join(" ")}\n`,
        )
        .join(""),
    );
    if (damaged.length === 0) return output.done(`${count} files are whole (${formatSize(bytes)}).`);
    const message = `${damaged.length} of ${count} files ${damaged.length === 1 ? "is" : "are"} damaged.`;
    throw new Failure(EXIT.error, "files_damaged", message, {
      hint: "Put them back from a backup and verify again, or delete their tasks and uploads.",
    });
  });
}
