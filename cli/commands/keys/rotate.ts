import type { Command } from "commander";
import { addCommand, given, onRun } from "../../command.ts";
import type { Context } from "../../context.ts";
import { namingFlags } from "../../flags/naming.ts";
import { readDuration } from "../../flags/times.ts";
import { formatTime } from "../../format/units.ts";
import { withLocal, withLocalFlags } from "../../local.ts";
import { type SecretFlags, showSecrets } from "./secrets.ts";

export function addRotate(keys: Command, context: Context): void {
  const command = withLocalFlags(
    addCommand(keys, "rotate <key>", "give a key another secret, shown this once; id, name and limits stay"),
  )
    .option("--grace <duration>", "how long the old secret is still taken, up to 30d", "0")
    .option("--show-secret-only", "print the key and nothing else, for scripts");
  onRun<SecretFlags & { grace: string }>(command, context, async (invocation) => {
    const { args, options } = invocation;
    const graceMs = readDuration("--grace", options.grace);
    await withLocal(options, context, async (manage) => {
      const rotated = manage.rotateKey(given(args, 0), { graceMs });
      const made = await namingFlags(rotated, { grace_seconds: "--grace" });
      const { name, previous } = made.record;
      const until =
        previous === undefined
          ? "is refused within a second"
          : `is taken until ${formatTime(previous.expiresAt)}`;
      showSecrets(invocation, made, `${name} has another secret; the old one ${until}. Shown once:`);
    });
  });
}
