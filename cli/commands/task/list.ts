import { type Command, Option } from "commander";
import { TASK_STATUSES } from "../../../src/domain/task/task.ts";
import type { TaskView } from "../../client/answer.ts";
import { createClient, type TaskQuery } from "../../client/client.ts";
import { costOf } from "../../client/follow.ts";
import { listPages, type PageFlags, withPageFlags } from "../../client/pages.ts";
import { clientOptions } from "../../client/remote.ts";
import { onRun } from "../../command.ts";
import type { Context } from "../../context.ts";
import { column } from "../../format/table.ts";
import { withExamples } from "../../help/manual.ts";
import { addOperatorsToo, type OperatorsToo, whoAsks } from "../../manage/caller.ts";
import { nameIn, progressOf, statusOf, textOf, timeOf } from "./cells.ts";

const COLUMNS = [
  column.id("TASK"),
  column.word("KIND", 5),
  column.id("MODEL", 1),
  column.word("STATUS"),
  column.number("PROGRESS", 4),
  column.word("CREATED", 3),
  column.word("COST", 2),
];
const OF_OTHERS = [column.text("ACCOUNT", 1), column.text("KEY", 6), column.id("PROVIDER", 2)];

type ListFlags = OperatorsToo & TaskQuery & PageFlags & { search?: string; account?: string };

export function addList(task: Command, context: Context): void {
  const command = addOperatorsToo(task, "list", "list your tasks, newest first")
    .option("--account <account>", "only tasks of this account, by id or name; for operators")
    .addOption(new Option("--status <status>", "only tasks in this state").choices(TASK_STATUSES))
    .addOption(new Option("--kind <kind>", "only tasks of this kind").choices(["image", "video"]))
    .option("-m, --model <model>", "only tasks of this model")
    .option("--search <text>", "only tasks whose prompts have these words");
  withPageFlags(command, "tasks");
  withExamples(
    command,
    "svc task list --status failed",
    ["svc task list -m sandbox-video --all --json", "a task a line"],
    'svc task list --search "lighthouse dusk"',
    ["svc task list --account studio --status processing", "with a management token"],
  );
  onRun<ListFlags>(command, context, async (invocation) => {
    const { options, output } = invocation;
    const { account, status, kind, model, search: q } = options;
    const { settings, isOperator } = whoAsks(options, context, account !== undefined);
    const client = createClient(settings, clientOptions(options, context, output));
    const query = { status, kind, model, q };
    await listPages(invocation, {
      command,
      columns: isOperator ? [...COLUMNS, ...OF_OTHERS] : COLUMNS,
      read: (page) =>
        isOperator
          ? client.managedTasks({ ...query, account, ...page })
          : client.tasks({ ...query, ...page }),
      itemsOf: ({ tasks }) => tasks,
      rowOf: (found) => (isOperator ? [...rowOf(found), ...ownersOf(found)] : rowOf(found)),
      none: "No tasks.",
    });
  });
}

function rowOf(task: TaskView): string[] {
  return [
    task.task_id,
    textOf(task.kind) ?? "",
    textOf(task.model) ?? "",
    statusOf(task),
    progressOf(task) ?? "",
    timeOf(task.created_at) ?? "",
    costOf(task) ?? "",
  ];
}

function ownersOf({ account, key, provider }: TaskView): string[] {
  return [nameIn(account), nameIn(key), textOf(provider) ?? ""];
}
