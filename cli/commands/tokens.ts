import type { Command } from "commander";
import { keyStatus } from "../../src/domain/access/account.ts";
import { tokenForm } from "../../src/domain/access/record-form.ts";
import { TOKEN_TERMS } from "../../src/domain/access/token-terms.ts";
import { placeAgain } from "../again.ts";
import { addCommands, given } from "../command.ts";
import { asksFirst, confirm } from "../confirm.ts";
import type { Context } from "../context.ts";
import { flagNames, namingFlags, readTermFlags, withTermFlags } from "../flags/terms.ts";
import type { FlagValues } from "../flags/values.ts";
import { column } from "../format/table.ts";
import { formatTime } from "../format/units.ts";
import { withExamples } from "../help/manual.ts";
import { gathered, type ListFlags, readListFlags, sayMore, withListFlags } from "../manage/lists.ts";
import { addManagedCommand, onManagedRun } from "../manage/managed.ts";

const COLUMNS = [
  column.id("ID", 2),
  column.text("NAME"),
  column.id("TOKEN", 1),
  column.word("STATUS"),
  column.text("SCOPES"),
  column.word("CREATED", 5),
  column.word("EXPIRES", 3),
  column.word("LAST USED", 4),
];

const FLAGS = flagNames(TOKEN_TERMS);

const TOKENS = { create: addCreate, list: addList, revoke: addRevoke };

export function defineTokens(tokens: Command, context: Context, [word]: readonly string[]): void {
  addCommands(tokens, context, TOKENS, word);
}

function addCreate(tokens: Command, context: Context): void {
  const command = addManagedCommand(tokens, "create", "create a token and show it once");
  withTermFlags(command.requiredOption("-n, --name <name>", "what people call it"), TOKEN_TERMS).option(
    "--show-secret-only",
    "print the token and nothing else, for scripts",
  );
  withExamples(
    command,
    "svc tokens create --name console",
    ["svc tokens create --name grafana --scopes read --expires 30d", "reads, for a month"],
    ["svc tokens create --name shop --scopes read,keys", "makes keys, and no money"],
    "export SVC_MANAGEMENT_TOKEN=$(svc tokens create --name ops --show-secret-only)",
  );
  type Flags = FlagValues & { name: string; showSecretOnly?: true };
  onManagedRun<Flags>(command, context, async ({ options, output, open }) => {
    const { name, showSecretOnly, ...flags } = options;
    const now = Date.now();
    const terms = readTermFlags(TOKEN_TERMS, flags, now);
    const { manage, at } = await open();
    const { token, record } = await namingFlags(manage.createToken({ ...terms, name }), FLAGS);
    if (showSecretOnly === true) {
      context.stdout.write(`${token}\n`);
      return;
    }
    output.done(
      `Token ${record.name} (${record.id}) with ${record.scopes.join(", ")} created ${at}. Shown once:`,
    );
    output.show({ ...tokenForm(record, now), token }, () => `${token}\n`);
  });
}

function addList(tokens: Command, context: Context): void {
  const command = addManagedCommand(
    tokens,
    "list",
    "list the tokens, revoked ones included, the oldest first",
  );
  withListFlags(command, "tokens");
  withExamples(command, "svc tokens list");
  onManagedRun<ListFlags>(command, context, async ({ options, output, open }) => {
    const query = readListFlags(options);
    const { manage, at } = await open();
    const { items: found, next } = await gathered(manage.listTokens(query));
    const now = Date.now();
    const rows = found.map((token) => [
      token.id,
      token.name,
      token.display,
      keyStatus(token, now),
      token.scopes.join(","),
      formatTime(token.createdAt),
      token.expiresAt === undefined ? "never" : formatTime(token.expiresAt),
      token.lastUsedAt === undefined ? "never" : formatTime(token.lastUsedAt),
    ]);
    if (rows.length === 0 && query.after === undefined)
      output.say(`There are no tokens ${at}. Make one: svc tokens create --name NAME${placeAgain(command)}`);
    await output.list({ tokens: found.map((token) => tokenForm(token, now)), next }, COLUMNS, rows);
    sayMore(output, command, next);
  });
}

function addRevoke(tokens: Command, context: Context): void {
  const description = "refuse a token from now on, by id or name";
  const command = asksFirst(addManagedCommand(tokens, "revoke <token>", description));
  withExamples(command, "svc tokens revoke console", ["svc tokens revoke console --yes", "in a script"]);
  onManagedRun(command, context, async (invocation) => {
    const { args, output, open } = invocation;
    const { manage, at } = await open();
    await confirm(
      invocation,
      `Revoke token ${given(args, 0)} ${at}? A revoked token never becomes valid again.`,
    );
    const token = await manage.revokeToken(given(args, 0));
    output.done(`Token ${token.name} is revoked ${at}.`);
    output.show(tokenForm(token, Date.now()), () => `${token.id}\n`);
  });
}
