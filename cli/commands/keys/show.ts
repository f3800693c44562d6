import type { Command } from "commander";
import { keyForm } from "../../../src/domain/access/record-form.ts";
import { addCommand, given, onRun } from "../../command.ts";
import type { Context } from "../../context.ts";
import { renderFields } from "../../format/table.ts";
import { type LocalFlags, withLocal, withLocalFlags } from "../../local.ts";
import { accountNames, keyFields } from "./fields.ts";

export function addShow(keys: Command, context: Context): void {
  const command = withLocalFlags(
    addCommand(keys, "show <key>", "show a key and its limits, by id or name; never the secret"),
  );
  onRun<LocalFlags>(command, context, async ({ args, options, output }) => {
    await withLocal(options, context, async (manage) => {
      const key = await manage.showKey(given(args, 0));
      const account = (await accountNames(manage)).get(key.accountId);
      const now = Date.now();
      output.show({ ...keyForm(key, now), account }, () =>
        renderFields(keyFields(key, account, now), output),
      );
    });
  });
}
