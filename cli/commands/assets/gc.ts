import { type Command, Option } from "commander";
import { addCommand, withCommonFlags } from "../../command.ts";
import { asksFirst, confirm } from "../../confirm.ts";
import type { Context } from "../../context.ts";
import { formatSize } from "../../format/units.ts";
import { withExamples, withNotes } from "../../help/manual.ts";
import { onLocalRun, withLocalFlags } from "../../local.ts";

export function addGc(assets: Command, context: Context): void {
  const command = withLocalFlags(
    withCommonFlags(addCommand(assets, "gc", "remove files that no task has, such as what a crash left")),
  );
  command.addOption(new Option("--dry-run", "change nothing; tell what would go"));
  asksFirst(command);
  withExamples(command, "svc assets gc --dry-run", "svc assets gc --yes");
  withNotes(
    command,
    "Safe while a server runs, which does the same by itself every six hours. Files that were stored or used within the last hour stay.",
  );
  onLocalRun<{ dryRun?: boolean }>(command, context, async (invocation) => {
    const { options, output, open } = invocation;
    const isTrial = options.dryRun === true;
    const { assets, folder } = await open();
    const files = await assets();
    if (!isTrial) await confirm(invocation, `Remove the files in ${folder} that no task has?`);
    const gone: { sha256: string; size_bytes: number }[] = [];
    const onFound = (sha256: string, bytes: number) => void gone.push({ sha256, size_bytes: bytes });
    const { files: count, bytes, young } = await files.collect({ isTrial, onFound });
    const what = `${count} ${count === 1 ? "file" : "files"}, ${formatSize(bytes)}`;
    if (isTrial) output.say(`Would remove ${what}.`);
    else output.done(`Removed ${what}.`);
    if (young > 0) output.say(`${young} more ${young === 1 ? "is" : "are"} less than an hour old.`);
    output.show({ dry_run: isTrial, files: count, size_bytes: bytes, young, contents: gone }, () =>
      gone.map(({ sha256, size_bytes }) => `${sha256}\t${size_bytes}\n`).join(""),
    );
  });
}
