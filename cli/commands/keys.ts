import type { Command } from "commander";
import type { ApiKey } from "../../src/domain/account.ts";
import { addCommand, addGroup, given, LOCAL_COMMANDS, onRun } from "../command.ts";
import type { Context } from "../context.ts";
import { type LocalFlags, type Manage, withLocal, withLocalFlags } from "../local.ts";
import { keyJson, statusOf } from "../present.ts";
import { renderFields } from "../table.ts";
import { formatTime } from "../units.ts";

const COLUMNS = [
  { title: "ID" },
  { title: "NAME" },
  { title: "ACCOUNT" },
  { title: "KEY" },
  { title: "STATUS" },
  { title: "CREATED" },
];

export function addKeys(program: Command, context: Context): void {
  const keys = addGroup(program, "keys", LOCAL_COMMANDS, "API keys").alias("key");
  addCreate(keys, context);
  addList(keys, context);
  addShow(keys, context);
  addRevoke(keys, context);
}

function addCreate(keys: Command, context: Context): void {
  const command = withLocalFlags(addCommand(keys, "create", "make a key; it is shown this once"))
    .requiredOption("-n, --name <name>", "what people call it")
    .option("--account <account>", 'id or name of the account it belongs to (default "default")');
  onRun<LocalFlags & { name: string; account?: string }>(command, context, async ({ options, output }) => {
    await withLocal(options, context, async (manage, folder) => {
      const { key, record, account } = await manage.createKey(options);
      output.say(
        `${output.style.green("✓")} Key ${record.name} (${record.id}) of account ${account.name} created in ${folder}. Shown once:`,
      );
      output.show({ ...keyJson(record), account: account.name, key }, () => `${key}\n`);
    });
  });
}

function addList(keys: Command, context: Context): void {
  const command = withLocalFlags(addCommand(keys, "list", "list the keys, revoked ones included")).option(
    "--account <account>",
    "id or name of the account whose keys to list",
  );
  onRun<LocalFlags & { account?: string }>(command, context, async ({ options, output }) => {
    await withLocal(options, context, async (manage, folder) => {
      const found = await manage.listKeys(options.account);
      const names = await accountNames(manage);
      const rows = found.map((key) => [
        key.id,
        key.name,
        names.get(key.accountId) ?? key.accountId,
        key.display,
        statusOf(key),
        formatTime(key.createdAt),
      ]);
      if (rows.length === 0)
        output.say(`There are no keys in ${folder}. Make one: svc keys create --name NAME`);
      await output.list(
        { keys: found.map((key) => ({ ...keyJson(key), account: names.get(key.accountId) })) },
        COLUMNS,
        rows,
      );
    });
  });
}

function addShow(keys: Command, context: Context): void {
  const command = withLocalFlags(
    addCommand(keys, "show <key>", "show a key, by id or name; never the secret"),
  );
  onRun<LocalFlags>(command, context, async ({ args, options, output }) => {
    await withLocal(options, context, async (manage) => {
      const key = await manage.showKey(given(args, 0));
      const account = (await accountNames(manage)).get(key.accountId);
      output.show({ ...keyJson(key), account }, () => renderFields(fieldsOf(key, account), output));
    });
  });
}

function addRevoke(keys: Command, context: Context): void {
  const command = withLocalFlags(addCommand(keys, "revoke <key>", "refuse a key from now on, by id or name"));
  onRun<LocalFlags>(command, context, async ({ args, options, output }) => {
    await withLocal(options, context, async (manage) => {
      const key = await manage.revokeKey(given(args, 0));
      output.say(
        `${output.style.green("✓")} Key ${key.name} is revoked. A running server refuses it within a second.`,
      );
      output.show(keyJson(key), () => `${key.id}\n`);
    });
  });
}

async function accountNames(manage: Manage): Promise<Map<string, string>> {
  return new Map((await manage.listAccounts()).map((account) => [account.id, account.name]));
}

function fieldsOf(key: ApiKey, account: string | undefined): [string, string | undefined][] {
  const time = (ms: number | undefined) => (ms === undefined ? undefined : formatTime(ms));
  return [
    ["id", key.id],
    ["name", key.name],
    ["account", account === undefined ? key.accountId : `${account} (${key.accountId})`],
    ["key", key.display],
    ["status", statusOf(key)],
    ["created", time(key.createdAt)],
    ["expires", time(key.expiresAt)],
    ["revoked", time(key.revokedAt)],
  ];
}
