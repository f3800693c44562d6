import type { Command } from "commander";
import { keyForm } from "../../../src/domain/access/record-form.ts";
import { addCommand, given, onRun } from "../../command.ts";
import type { Context } from "../../context.ts";
import { type LocalFlags, withLocal, withLocalFlags } from "../../local.ts";

export function addRevoke(keys: Command, context: Context): void {
  const command = withLocalFlags(addCommand(keys, "revoke <key>", "refuse a key from now on, by id or name"));
  onRun<LocalFlags>(command, context, async ({ args, options, output }) => {
    await withLocal(options, context, async (manage) => {
      const key = await manage.revokeKey(given(args, 0));
      output.say(
        `${output.style.green("✓")} Key ${key.name} is revoked. A running server refuses it within a second.`,
      );
      output.show(keyForm(key, Date.now()), () => `${key.id}\n`);
    });
  });
}
