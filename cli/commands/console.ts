import type { Command } from "commander";
import { sessionForm } from "../../src/domain/access/console-session.ts";
import { placeAgain } from "../again.ts";
import { addCommands, given } from "../command.ts";
import type { Context } from "../context.ts";
import { column } from "../format/table.ts";
import { formatTime } from "../format/units.ts";
import { withExamples } from "../help/manual.ts";
import { addManagedCommand, onManagedRun } from "../manage/managed.ts";

const COLUMNS = [
  column.id("ID", 2),
  column.word("STATE"),
  column.word("ROLE"),
  column.text("KEY OR TOKEN"),
  column.word("CREATED", 5),
  column.word("EXPIRES", 3),
];

const CONSOLE = { link: addLink, list: addList, end: addEnd };

export function defineConsole(parent: Command, context: Context, [word]: readonly string[]): void {
  addCommands(parent, context, CONSOLE, word);
}

function addLink(parent: Command, context: Context): void {
  const command = addManagedCommand(parent, "link", "print a link that opens the console once");
  withExamples(command, "svc console link", [
    "svc console link --server https://svc.example",
    "of another machine",
  ]);
  onManagedRun(command, context, async ({ output, open }) => {
    const { manage, at } = await open();
    const { url, session } = await manage.createConsoleLink();
    output.done(`A link to the console ${at}. It works once, within 30 minutes, for whoever has it:`);
    output.show({ ...sessionForm(session), url }, () => `${url}\n`);
  });
}

function addList(parent: Command, context: Context): void {
  const command = addManagedCommand(parent, "list", "list who is at the console, and links that wait");
  withExamples(command, "svc console list");
  onManagedRun(command, context, async ({ output, open }) => {
    const { manage, at } = await open();
    const sessions = (await manage.listSessions()).map(sessionForm);
    const rows = sessions.map(({ id, state, role, holder, created_at, expires_at }) => [
      ...[id, state, role, holder.name],
      ...[formatTime(created_at * 1000), formatTime(expires_at * 1000)],
    ]);
    if (rows.length === 0)
      output.say(`Nobody is at the console ${at}. Come in: svc console link${placeAgain(command)}`);
    await output.list({ sessions }, COLUMNS, rows);
  });
}

function addEnd(parent: Command, context: Context): void {
  const command = addManagedCommand(parent, "end <session>", "end a session, or take a link back");
  withExamples(command, "svc console end ses_01jd0000000000000000000000");
  onManagedRun(command, context, async ({ args, output, open }) => {
    const { manage, at } = await open();
    const id = given(args, 0);
    await manage.endSession(id);
    output.done(`Session ${id} is over ${at}.`);
    output.show({ id }, () => `${id}\n`);
  });
}
