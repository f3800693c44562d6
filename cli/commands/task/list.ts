import { type Command, Option } from "commander";
import { TASK_STATUSES } from "../../../src/domain/task/task.ts";
import { costOf } from "../../client/follow.ts";
import { connect, type RemoteFlags, withRemoteFlags } from "../../client/remote.ts";
import { addCommand, onRun } from "../../command.ts";
import type { Context } from "../../context.ts";
import { formatTime } from "../../format/units.ts";

const COLUMNS = [
  { title: "TASK" },
  { title: "KIND" },
  { title: "MODEL" },
  { title: "STATUS" },
  { title: "PROGRESS", align: "right" as const },
  { title: "CREATED" },
  { title: "COST" },
];

interface ListFlags extends RemoteFlags {
  readonly status?: string;
  readonly kind?: string;
  readonly model?: string;
  readonly limit?: string;
  readonly after?: string;
}

export function addTaskList(task: Command, context: Context): void {
  const command = withRemoteFlags(addCommand(task, "list", "list your tasks, newest first"))
    .addOption(new Option("--status <status>", "only tasks in this state").choices(TASK_STATUSES))
    .addOption(new Option("--kind <kind>", "only tasks of this kind").choices(["image", "video"]))
    .option("-m, --model <model>", "only tasks of this model")
    .option("--limit <count>", "tasks in one page, 1 to 100 (default 20)")
    .option("--after <cursor>", "the page after this one, as the page before says it");
  onRun<ListFlags>(command, context, async ({ options, output }) => {
    const { status, kind, model, limit, after } = options;
    const { client } = connect(options, context, output);
    const page = await client.tasks({ status, kind, model, limit, after });
    const text = (value: unknown) => (typeof value === "string" ? value : "");
    const rows = page.tasks.map((each) => [
      each.task_id,
      text(each.kind),
      text(each.model),
      each.status,
      typeof each.progress === "number" ? `${each.progress} %` : "",
      typeof each.created_at === "number" ? formatTime(each.created_at * 1000) : "",
      costOf(each) ?? "",
    ]);
    await output.list(page, COLUMNS, rows);
    if (rows.length === 0) output.say("No tasks.");
    if (page.next !== null) output.say(`More: svc task list --after ${page.next}`);
  });
}
