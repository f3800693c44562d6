import type { Command } from "commander";
import { resultUrls, type TaskView } from "../../client/answer.ts";
import { costOf } from "../../client/follow.ts";
import { connect, type RemoteFlags, withRemoteFlags } from "../../client/remote.ts";
import { addCommand, given, onRun } from "../../command.ts";
import type { Context } from "../../context.ts";
import { renderFields } from "../../format/table.ts";
import { formatTime } from "../../format/units.ts";

export function addTaskGet(task: Command, context: Context): void {
  const command = withRemoteFlags(addCommand(task, "get <task>", "show a task as it is now"));
  onRun<RemoteFlags>(command, context, async ({ args, options, output }) => {
    const { client } = connect(options, context, output);
    const { kind, task: found } = await client.find(given(args, 0));
    output.show(found, () => renderFields(fieldsOf(found, kind), output));
  });
}

function fieldsOf(task: TaskView, kind: string): [string, string | undefined][] {
  const text = (value: unknown) => (typeof value === "string" ? value : undefined);
  const time = (value: unknown) => (typeof value === "number" ? formatTime(value * 1000) : undefined);
  return [
    ["task", task.task_id],
    ["kind", kind],
    ["model", text(task.model)],
    ["status", task.status],
    ["progress", typeof task.progress === "number" ? `${task.progress} %` : undefined],
    ["created", time(task.created_at)],
    ["completed", time(task.completed_at)],
    ["cost", costOf(task)],
    [
      "error",
      [task.error_code, task.error_message ?? task.error].map(text).filter(Boolean).join(": ") || undefined,
    ],
    ...resultUrls(task).map((url): [string, string] => ["result", url]),
  ];
}
