import { type Command, Option } from "commander";
import { CALLBACK_STATES } from "../../../src/domain/callback/callback.ts";
import { connect, type RemoteFlags, withRemoteFlags } from "../../client/remote.ts";
import { addCommand, onRun } from "../../command.ts";
import type { Context } from "../../context.ts";
import { parseMoment } from "../../flags/moment.ts";
import { listRow } from "../../format/callback-view.ts";

export const LIST_COLUMNS = [
  { title: "ID" },
  { title: "TASK" },
  { title: "STATE" },
  { title: "ATTEMPTS", align: "right" as const },
  { title: "NEXT" },
  { title: "URL" },
  { title: "CREATED" },
];

const EXAMPLES = `
Examples:
  svc callbacks list --state failed --since 2h
  svc callbacks list --task task_01m7… --json

The query of a URL is left out of the table, since receivers keep tokens there; --json has it.
`;

interface ListFlags extends RemoteFlags {
  readonly state?: string;
  readonly task?: string;
  readonly since?: string;
  readonly limit?: string;
  readonly after?: string;
}

export function addCallbacksList(callbacks: Command, context: Context): void {
  const command = withRemoteFlags(addCommand(callbacks, "list", "list callbacks, newest first"))
    .addOption(new Option("--state <state>", "only callbacks in this state").choices(CALLBACK_STATES))
    .option("--task <task>", "only the callback of this task")
    .option("--since <when>", "only those created since: 2h ago, or a time in ISO 8601")
    .option("--limit <count>", "callbacks in one page, 1 to 100 (default 20)")
    .option("--after <cursor>", "the page after this one, as the page before says it")
    .addHelpText("after", EXAMPLES);
  onRun<ListFlags>(command, context, async ({ options, output }) => {
    const { state, task, since, limit, after } = options;
    const from = since === undefined ? undefined : parseMoment("--since", since, Date.now());
    const { client } = connect(options, context, output);
    const page = await client.callbacks({ state, task_id: task, from, limit, after });
    await output.list(page, LIST_COLUMNS, page.callbacks.map(listRow));
    if (page.callbacks.length === 0) output.say("No callbacks.");
    if (page.next !== null) output.say(`More: svc callbacks list --after ${page.next}`);
  });
}
