import { type Command, Option } from "commander";
import { CALLBACK_STATES } from "../../src/domain/callback/callback.ts";
import { listPages, type PageFlags, withPageFlags } from "../client/pages.ts";
import { addCommands, given } from "../command.ts";
import type { Context } from "../context.ts";
import { readPastTime } from "../flags/values.ts";
import {
  CALLBACK_COLUMNS,
  callbackRow,
  MANAGED_COLUMNS,
  managedRow,
  showCallback,
} from "../format/callback-view.ts";
import { withExamples, withNotes } from "../help/manual.ts";
import {
  FOR_OPERATORS,
  onCallbackRun,
  ownersOf,
  withOperatorFlag,
  withOwnerFlags,
} from "../manage/callbacks.ts";
import { addCallerCommand } from "../manage/caller.ts";
import { addListen } from "./callbacks/listen.ts";
import { addRedeliver } from "./callbacks/redeliver.ts";
import { addTrigger } from "./callbacks/trigger.ts";

const CALLBACKS = {
  list: addList,
  show: addShow,
  redeliver: addRedeliver,
  trigger: addTrigger,
  listen: addListen,
};

export function defineCallbacks(callbacks: Command, context: Context, [word]: readonly string[]): void {
  addCommands(callbacks, context, CALLBACKS, word);
}

type ListFlags = PageFlags & Partial<Record<"state" | "task" | "since", string>>;

function addList(callbacks: Command, context: Context): void {
  const command = addCallerCommand(callbacks, "list", "list callbacks, newest first")
    .addOption(new Option("--state <state>", "only callbacks in this state").choices(CALLBACK_STATES))
    .option("--task <task>", "only the callback of this task")
    .option("--since <when>", "only those created since: 2h ago, or a time in ISO 8601");
  withOwnerFlags(withPageFlags(command, "callbacks"));
  withExamples(
    command,
    "svc callbacks list --state failed --since 2h",
    "svc callbacks list --task task_01m7… --json",
    ["svc callbacks list --account studio --local", "beside the data folder"],
  );
  withNotes(
    command,
    "The table leaves out the query of URLs, where receivers keep tokens; --json shows it.",
    FOR_OPERATORS,
  );
  onCallbackRun<ListFlags>(command, context, async (invocation) => {
    const { options, open } = invocation;
    const { state, task, since } = options;
    const from = since === undefined ? undefined : readPastTime("--since", since, Date.now());
    const { callbacks, isOperator } = await open();
    await listPages(invocation, {
      command,
      columns: isOperator ? MANAGED_COLUMNS : CALLBACK_COLUMNS,
      read: (page) => callbacks.callbacks({ state, task_id: task, from, ...ownersOf(options), ...page }),
      itemsOf: ({ callbacks: found }) => found,
      rowOf: isOperator ? managedRow : callbackRow,
      none: "No callbacks.",
    });
  });
}

function addShow(callbacks: Command, context: Context): void {
  const description = "show a callback's content and the result of each send";
  const command = withOperatorFlag(addCallerCommand(callbacks, "show <callback>", description));
  withExamples(command, "svc callbacks show cb_01m7…", [
    "svc callbacks show task_01m7…",
    "the callback of this task",
  ]);
  withNotes(command, FOR_OPERATORS);
  onCallbackRun(command, context, async ({ args, output, open }) => {
    const { callbacks } = await open();
    await showCallback(await callbacks.callback(await callbacks.callbackIdOf(given(args, 0))), output);
  });
}
