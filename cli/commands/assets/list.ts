import type { Command } from "commander";
import type { ListedAsset } from "../../../src/app/local-assets.ts";
import { listPages, type PageFlags, withPageFlags } from "../../client/pages.ts";
import { addCommand, withCommonFlags } from "../../command.ts";
import type { Context } from "../../context.ts";
import { unreadable } from "../../flags/values.ts";
import { column } from "../../format/table.ts";
import { formatSize, formatTime } from "../../format/units.ts";
import { withExamples } from "../../help/manual.ts";
import { onLocalRun, withLocalFlags } from "../../local.ts";

const COLUMNS = [
  ...[column.id("ASSET"), column.id("TASK"), column.word("ROLE"), column.word("TYPE", 1)],
  ...[column.number("SIZE", 2), column.word("CREATED", 3)],
];

export function addList(assets: Command, context: Context): void {
  const command = withLocalFlags(
    withCommonFlags(addCommand(assets, "list", "list the stored files of all tasks, newest first")),
  );
  withPageFlags(command, "files");
  withExamples(command, "svc assets list", ["svc assets list --all --json", "a file a line"]);
  onLocalRun<PageFlags>(command, context, async (invocation) => {
    const files = await (await invocation.open()).assets();
    await listPages(invocation, {
      command,
      columns: COLUMNS,
      async read({ limit = "20", after }) {
        if (after !== undefined && !/^\d{1,15}$/.test(after))
          throw unreadable("--after", "the cursor that the page before printed", after);
        const page = await files.list({
          limit: Number(limit),
          after: after === undefined ? undefined : Number(after),
        });
        return { assets: page.assets.map(formOf), next: page.next === undefined ? null : String(page.next) };
      },
      itemsOf: (page) => page.assets,
      rowOf: (asset) => [
        ...[asset.id, asset.task_id, asset.role, asset.media_type],
        ...[formatSize(asset.size_bytes), formatTime(asset.created_at * 1000)],
      ],
      none: "No files.",
    });
  });
}

function formOf({
  id,
  taskId,
  accountId,
  role,
  index,
  sha256,
  sizeBytes,
  type,
  createdAt,
  path,
}: ListedAsset) {
  return {
    ...{ id, task_id: taskId, account_id: accountId, role, index, sha256, size_bytes: sizeBytes },
    ...{ media_type: type, created_at: Math.floor(createdAt / 1000), path },
  };
}
