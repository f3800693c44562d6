import type { Command } from "commander";
import { VERSION } from "../../src/version.ts";
import { addCommand, OTHER_COMMANDS, onRun } from "../command.ts";
import type { Context } from "../context.ts";

export function addVersion(program: Command, context: Context): void {
  const command = addCommand(program, "version", "print the version")
    .helpGroup(OTHER_COMMANDS)
    .option("--licenses", "print the licences of everything the executable contains");
  onRun<{ licenses?: boolean }>(command, context, async ({ options, output }) => {
    const platform = `${process.platform}-${process.arch}`;
    if (options.licenses === true) {
      const { thirdPartyNotices } = await import("../notices.ts");
      const licenses = await thirdPartyNotices();
      output.show({ version: VERSION, licenses }, () => licenses);
      return;
    }
    output.show(
      { version: VERSION, bun: Bun.version, platform },
      () => `svc ${VERSION} · bun ${Bun.version} · ${platform}\n`,
    );
  });
}
