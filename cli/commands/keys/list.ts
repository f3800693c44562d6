import type { Command } from "commander";
import { keyStatus } from "../../../src/domain/access/account.ts";
import { keyForm } from "../../../src/domain/access/record-form.ts";
import { addCommand, onRun } from "../../command.ts";
import type { Context } from "../../context.ts";
import { formatTime } from "../../format/units.ts";
import { type LocalFlags, withLocal, withLocalFlags } from "../../local.ts";
import { accountNames, limitFields } from "./fields.ts";

const COLUMNS = [
  { title: "ID" },
  { title: "NAME" },
  { title: "ACCOUNT" },
  { title: "KEY" },
  { title: "STATUS" },
  { title: "CREATED" },
  { title: "EXPIRES" },
  { title: "LIMITS" },
];

export function addList(keys: Command, context: Context): void {
  const command = withLocalFlags(addCommand(keys, "list", "list the keys, revoked ones included")).option(
    "--account <account>",
    "id or name of the account whose keys to list",
  );
  onRun<LocalFlags & { account?: string }>(command, context, async ({ options, output }) => {
    await withLocal(options, context, async (manage, folder) => {
      const found = await manage.listKeys(options.account);
      const names = await accountNames(manage);
      const now = Date.now();
      const rows = found.map((key) => [
        key.id,
        key.name,
        names.get(key.accountId) ?? key.accountId,
        key.display,
        keyStatus(key, now),
        formatTime(key.createdAt),
        key.expiresAt === undefined ? "never" : formatTime(key.expiresAt),
        limitFields(key)
          .flatMap(([name, value]) => (value === undefined ? [] : [`${name} ${value}`]))
          .join("; ") || "none",
      ]);
      if (rows.length === 0)
        output.say(`There are no keys in ${folder}. Make one: svc keys create --name NAME`);
      await output.list(
        { keys: found.map((key) => ({ ...keyForm(key, now), account: names.get(key.accountId) })) },
        COLUMNS,
        rows,
      );
    });
  });
}
