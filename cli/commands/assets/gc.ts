import { type Command, Option } from "commander";
import { asksFirst, confirm } from "../../confirm.ts";
import type { Context } from "../../context.ts";
import { formatSize } from "../../format/units.ts";
import { withExamples, withNotes } from "../../help/manual.ts";
import { countIn, objectsIn, textIn } from "../../manage/fields.ts";
import { addManagedCommand, onManagedRun } from "../../manage/managed.ts";

export function addGc(assets: Command, context: Context): void {
  const about = "remove files that no task has, such as what a crash left";
  const command = addManagedCommand(assets, "gc", about);
  command.addOption(new Option("--dry-run", "change nothing; tell what would go"));
  asksFirst(command);
  withExamples(command, "svc assets gc --dry-run", "svc assets gc --yes");
  withNotes(
    command,
    "Safe while a server runs, which does the same by itself every six hours. Files that were stored or used within the last hour stay.",
  );
  onManagedRun<{ dryRun?: boolean }>(command, context, async (invocation) => {
    const { options, output, open } = invocation;
    const isTrial = options.dryRun === true;
    const place = await open();
    if (!isTrial) await confirm(invocation, `Remove the files ${place.at} that no task has?`);
    const form = await (await place.files()).collect(isTrial);
    const [count, bytes, young] = [
      countIn(form, "files"),
      countIn(form, "size_bytes"),
      countIn(form, "young"),
    ];
    const what = `${count} ${count === 1 ? "file" : "files"}, ${formatSize(bytes)}`;
    if (isTrial) output.say(`Would remove ${what}.`);
    else output.done(`Removed ${what}.`);
    if (young > 0) output.say(`${young} more ${young === 1 ? "is" : "are"} less than an hour old.`);
    output.show(form, () =>
      objectsIn(form, "contents")
        .map((each) => `${textIn(each, "sha256")}\t${countIn(each, "size_bytes")}\n`)
        .join(""),
    );
  });
}
