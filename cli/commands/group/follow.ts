import { isJsonObject, type JsonObject } from "../../../src/domain/json.ts";
import { type TaskView, taskOf } from "../../client/answer.ts";
import { clientOptions, type Remote, type RemoteFlags } from "../../client/remote.ts";
import { followTasks } from "../../client/task-feed.ts";
import { ownTasks } from "../../client/task-source.ts";
import { createTracker } from "../../client/task-tracker.ts";
import type { Invocation } from "../../command.ts";
import { readClientSettings } from "../../environment.ts";
import { EXIT } from "../../exit-codes.ts";
import { Failure } from "../../failure.ts";
import type { Output } from "../../format/output.ts";
import { printable } from "../../format/printable.ts";
import { type Field, renderFields, renderTsv } from "../../format/table.ts";
import { formatDuration, formatTime } from "../../format/units.ts";

export interface Followed {
  readonly remote: Remote;
  readonly id: string;
  /** How long to wait; until all have ended unless given. */
  readonly timeoutMs?: number | undefined;
}

/**
 * Tells every change of a group's tasks until all have ended, and shows the group then.
 * @throws Failure for a group that did not complete, and one that is still under way when the time is up
 */
export async function followGroup(
  { context, options, output }: Invocation<RemoteFlags>,
  { remote, id, timeoutMs }: Followed,
): Promise<void> {
  const ids = tasksOf(await remote.client.group(id)).map(({ task_id }) => task_id);
  const tracker = createTracker(ids);
  const over = new AbortController();
  const told = clientOptions(options, context, output);
  const client = { ...told, signal: AbortSignal.any([told.signal, over.signal]) };
  const printed = new Map<string, string>();
  const following = followTasks({
    ...{ source: ownTasks(readClientSettings(options, context), client), ids },
    ...{ timing: client.timing, signal: client.signal, most: 0 },
    onTasks(views) {
      for (const view of views) {
        const line = `${view.task_id} ${view.status} ${String(view.progress ?? "")}`;
        if (printed.get(view.task_id) !== line) output.say(printable(line.trim()));
        printed.set(view.task_id, line);
      }
      tracker.take(views);
    },
    onRead: () => undefined,
    onLive: () => undefined,
    onTrouble: (message) => output.say(`${message} It is tried until it answers.`),
  });
  try {
    const isTimeUp = timeoutMs === undefined ? [] : [client.timing.sleep(timeoutMs, client.signal)];
    await Promise.race([following, tracker.done, ...isTimeUp]);
  } finally {
    over.abort();
    following.catch(() => undefined);
  }
  const group = await remote.client.group(id);
  output.show(group, () => renderGroup(group, output));
  const verdict = verdictOf(group, id, timeoutMs ?? 0);
  if (verdict !== undefined) throw verdict;
}

/** Why the command fails; undefined where a task completed. */
function verdictOf({ status }: JsonObject, id: string, timeoutMs: number): Failure | undefined {
  const more = { group_id: id };
  if (status === "completed") return undefined;
  if (status === "failed")
    return new Failure(EXIT.taskFailed, "task_failed", `No task of ${id} completed.`, { more });
  if (status === "cancelled")
    return new Failure(EXIT.taskCancelled, "task_cancelled", `${id} was cancelled.`, { more });
  const hint = `It goes on without you; \`svc group watch ${id}\` watches it again.`;
  const message = `${id} is still under way after ${formatDuration(timeoutMs)}.`;
  return new Failure(EXIT.stillRunning, "still_running", message, { hint, more });
}

/** The tasks of a group that are not deleted. */
function tasksOf({ tasks }: JsonObject): TaskView[] {
  const all = Array.isArray(tasks) ? tasks : [];
  return all.flatMap((each) => (isJsonObject(each) && isJsonObject(each.task) ? [taskOf(each.task)] : []));
}

/** A group for people: what it is, then its tasks, a line each. */
export function renderGroup(group: JsonObject, output: Output): string {
  const text = (name: string) => (typeof group[name] === "string" ? group[name] : undefined);
  const time = (name: string) =>
    typeof group[name] === "number" ? formatTime(group[name] * 1000) : undefined;
  const fields: Field[] = [
    ["group", text("group_id")],
    ["status", text("status")],
    ["policy", text("policy")],
    ["winner", text("winner")],
    ["created", time("created_at")],
    ["deadline", time("deadline_at")],
    ["cost", costOf(group)],
    ["contact sheet", text("contact_sheet")],
  ];
  const rows = tasksOf(group).map(({ task_id, model, status }) =>
    [task_id, typeof model === "string" ? model : "", status].map(printable),
  );
  return `${renderFields(fields, output)}${renderTsv(rows)}`;
}

/** What its tasks were charged so far. */
export function costOf({ usage }: JsonObject): string | undefined {
  const { cost, currency } = isJsonObject(usage) ? usage : {};
  return typeof cost === "string" ? `${cost} ${String(currency ?? "")}`.trim() : undefined;
}
