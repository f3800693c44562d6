import type { Command } from "commander";
import { tokenForm, tokenStatus } from "../../src/domain/access/record-form.ts";
import { addCommand, addGroup, given, LOCAL_COMMANDS, onRun } from "../command.ts";
import type { Context } from "../context.ts";
import { formatTime } from "../format/units.ts";
import { type LocalFlags, withLocal, withLocalFlags } from "../local.ts";

const COLUMNS = [
  { title: "ID" },
  { title: "NAME" },
  { title: "TOKEN" },
  { title: "STATUS" },
  { title: "CREATED" },
];

export function addTokens(program: Command, context: Context): void {
  const tokens = addGroup(
    program,
    "tokens",
    LOCAL_COMMANDS,
    "management tokens; model APIs refuse them",
  ).alias("token");
  addCreate(tokens, context);
  addList(tokens, context);
  addRevoke(tokens, context);
}

function addCreate(tokens: Command, context: Context): void {
  const command = withLocalFlags(
    addCommand(tokens, "create", "make a token; it is shown this once"),
  ).requiredOption("-n, --name <name>", "what people call it");
  onRun<LocalFlags & { name: string }>(command, context, async ({ options, output }) => {
    await withLocal(options, context, async (manage, folder) => {
      const { token, record } = await manage.createToken(options);
      output.say(
        `${output.style.green("✓")} Token ${record.name} (${record.id}) created in ${folder}. Shown once:`,
      );
      output.show({ ...tokenForm(record), token }, () => `${token}\n`);
    });
  });
}

function addList(tokens: Command, context: Context): void {
  const command = withLocalFlags(addCommand(tokens, "list", "list the tokens, revoked ones included"));
  onRun<LocalFlags>(command, context, async ({ options, output }) => {
    await withLocal(options, context, async (manage, folder) => {
      const found = await manage.listTokens();
      const rows = found.map((token) => [
        token.id,
        token.name,
        token.display,
        tokenStatus(token),
        formatTime(token.createdAt),
      ]);
      if (rows.length === 0)
        output.say(`There are no tokens in ${folder}. Make one: svc tokens create --name NAME`);
      await output.list({ tokens: found.map(tokenForm) }, COLUMNS, rows);
    });
  });
}

function addRevoke(tokens: Command, context: Context): void {
  const command = withLocalFlags(
    addCommand(tokens, "revoke <token>", "refuse a token from now on, by id or name"),
  );
  onRun<LocalFlags>(command, context, async ({ args, options, output }) => {
    await withLocal(options, context, async (manage) => {
      const token = await manage.revokeToken(given(args, 0));
      output.say(`${output.style.green("✓")} Token ${token.name} is revoked.`);
      output.show(tokenForm(token), () => `${token.id}\n`);
    });
  });
}
