import { type Command, Option } from "commander";
import { CALLBACK_STATES } from "../../src/domain/callback/callback.ts";
import { listPages, type PageFlags, withPageFlags } from "../client/pages.ts";
import { addRemoteCommand, connect, type RemoteFlags } from "../client/remote.ts";
import { addGroup, CLIENT_COMMANDS, given, onRun } from "../command.ts";
import type { Context } from "../context.ts";
import { readPastTime } from "../flags/values.ts";
import { CALLBACK_COLUMNS, callbackRow, showCallback } from "../format/callback-view.ts";
import { withExamples, withNotes } from "../help/manual.ts";
import { addListen } from "./callbacks/listen.ts";
import { addRedeliver } from "./callbacks/redeliver.ts";
import { addTrigger } from "./callbacks/trigger.ts";

export function addCallbacks(program: Command, context: Context): void {
  const description = "see the callbacks of ended tasks, and receive them on your own machine";
  const callbacks = addGroup(program, "callbacks", CLIENT_COMMANDS, description).alias("callback");
  for (const add of [addList, addShow, addRedeliver, addTrigger, addListen]) add(callbacks, context);
}

type ListFlags = RemoteFlags & PageFlags & Partial<Record<"state" | "task" | "since", string>>;

function addList(callbacks: Command, context: Context): void {
  const command = addRemoteCommand(callbacks, "list", "list callbacks, newest first")
    .addOption(new Option("--state <state>", "only callbacks in this state").choices(CALLBACK_STATES))
    .option("--task <task>", "only the callback of this task")
    .option("--since <when>", "only those created since: 2h ago, or a time in ISO 8601");
  withPageFlags(command, "callbacks");
  withExamples(
    command,
    "svc callbacks list --state failed --since 2h",
    "svc callbacks list --task task_01m7… --json",
  );
  withNotes(command, "The table leaves out the query of URLs, where receivers keep tokens; --json shows it.");
  onRun<ListFlags>(command, context, async (invocation) => {
    const { options, output } = invocation;
    const { state, task, since } = options;
    const from = since === undefined ? undefined : readPastTime("--since", since, Date.now());
    const { client } = connect(options, context, output);
    await listPages(invocation, {
      command,
      columns: CALLBACK_COLUMNS,
      read: (page) => client.callbacks({ state, task_id: task, from, ...page }),
      itemsOf: ({ callbacks: found }) => found,
      rowOf: callbackRow,
      none: "No callbacks.",
    });
  });
}

function addShow(callbacks: Command, context: Context): void {
  const description = "show a callback's content and the result of each send";
  const command = addRemoteCommand(callbacks, "show <callback>", description);
  withExamples(command, "svc callbacks show cb_01m7…", [
    "svc callbacks show task_01m7…",
    "the callback of this task",
  ]);
  onRun<RemoteFlags>(command, context, async ({ args, options, output }) => {
    const { client } = connect(options, context, output);
    const callback = await client.callback(await client.callbackIdOf(given(args, 0)));
    await showCallback(callback, output);
  });
}
