import type { Command } from "commander";
import { listPages, type PageFlags, withPageFlags } from "../../client/pages.ts";
import type { Context } from "../../context.ts";
import { unreadable } from "../../flags/values.ts";
import { column } from "../../format/table.ts";
import { formatSize, formatTime } from "../../format/units.ts";
import { withExamples } from "../../help/manual.ts";
import { countIn, textIn, timeIn } from "../../manage/fields.ts";
import { addManagedCommand, onManagedRun } from "../../manage/managed.ts";

const COLUMNS = [
  ...[column.id("ASSET"), column.id("TASK"), column.word("ROLE"), column.word("TYPE", 1)],
  ...[column.number("SIZE", 2), column.word("CREATED", 3)],
];

export function addList(assets: Command, context: Context): void {
  const command = addManagedCommand(assets, "list", "list the stored files of all tasks, newest first");
  withPageFlags(command, "files");
  withExamples(command, "svc assets list", ["svc assets list --all --json", "a file a line"]);
  onManagedRun<PageFlags>(command, context, async (invocation) => {
    const files = await (await invocation.open()).files();
    await listPages(invocation, {
      command,
      columns: COLUMNS,
      async read({ limit = "20", after }) {
        if (after !== undefined && !/^\d{1,15}$/.test(after))
          throw unreadable("--after", "the cursor that the page before printed", after);
        return await files.list({ limit, after });
      },
      itemsOf: (page) => page.assets,
      rowOf: (asset) => [
        ...["id", "task_id", "role", "media_type"].map((name) => textIn(asset, name)),
        ...[formatSize(countIn(asset, "size_bytes")), formatTime(timeIn(asset, "created_at"))],
      ],
      none: "No files.",
    });
  });
}
