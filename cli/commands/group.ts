import type { Command } from "commander";
import { textOf } from "../client/lenient.ts";
import { listPages, type PageFlags, withPageFlags } from "../client/pages.ts";
import { addRemoteCommand, connect, type RemoteFlags } from "../client/remote.ts";
import { addCommands, given, onRun } from "../command.ts";
import type { Context } from "../context.ts";
import { column } from "../format/table.ts";
import { formatTime } from "../format/units.ts";
import { withExamples, withExits, withNotes } from "../help/manual.ts";
import { addCreate } from "./group/create.ts";
import { costOf, followGroup, renderGroup } from "./group/follow.ts";

const COLUMNS = [
  ...[column.id("GROUP"), column.word("STATUS", 1), column.word("POLICY", 4), column.number("TASKS", 3)],
  ...[column.word("CREATED", 5), column.word("COST", 2)],
];

const GROUP = { create: addCreate, show: addShow, list: addList, watch: addWatch, cancel: addCancel };

export function defineGroup(group: Command, context: Context, [word]: readonly string[]): void {
  addCommands(group, context, GROUP, word);
}

function addShow(group: Command, context: Context): void {
  const command = addRemoteCommand(group, "show <group>", "show a group's tasks, winner and contact sheet");
  withExamples(command, "svc group show grp_01m7…", "svc group show grp_01m7… --field contact_sheet");
  onRun<RemoteFlags>(command, context, async ({ args, options, output }) => {
    const found = await connect(options, context, output).client.group(given(args, 0));
    output.show(found, () => renderGroup(found, output));
  });
}

function addList(group: Command, context: Context): void {
  const command = addRemoteCommand(group, "list", "list your groups, newest first");
  withPageFlags(command, "groups");
  withExamples(command, "svc group list", ["svc group list --all --json", "a group a line"]);
  withNotes(
    command,
    "A page looks at a thousand tasks, so that it may be short and have a next one; --all goes on.",
  );
  onRun<RemoteFlags & PageFlags>(command, context, async (invocation) => {
    const { client } = connect(invocation.options, context, invocation.output);
    await listPages(invocation, {
      command,
      columns: COLUMNS,
      async read(page) {
        const { items, next } = await client.groups(page);
        return { groups: items, next };
      },
      itemsOf: (page) => page.groups,
      rowOf: (each) => [
        ...["group_id", "status", "policy"].map((name) => textOf(each[name])),
        String(Array.isArray(each.task_ids) ? each.task_ids.length : ""),
        typeof each.created_at === "number" ? formatTime(each.created_at * 1000) : "",
        costOf(each) ?? "",
      ],
      none: "No groups.",
    });
  });
}

function addWatch(group: Command, context: Context): void {
  const command = addRemoteCommand(
    group,
    "watch <group>",
    "tell a group's changes until all tasks have ended",
  );
  withExamples(command, "svc group watch grp_01m7…", "svc group watch grp_01m7… --field winner");
  withNotes(command, "Changes are told on standard error, the group at its end on standard output.");
  withExits(command, "taskFailed", "taskCancelled");
  onRun<RemoteFlags>(command, context, async (invocation) => {
    const remote = connect(invocation.options, context, invocation.output);
    await followGroup(invocation, { remote, id: given(invocation.args, 0) });
  });
}

function addCancel(group: Command, context: Context): void {
  const command = addRemoteCommand(group, "cancel <group>", "stop all tasks of a group that have not ended");
  withExamples(command, "svc group cancel grp_01m7…");
  onRun<RemoteFlags>(command, context, async ({ args, options, output }) => {
    const found = await connect(options, context, output).client.cancelGroup(given(args, 0));
    output.show(found, () => renderGroup(found, output));
  });
}
