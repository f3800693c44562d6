import type { Command } from "commander";
import { VERSION } from "../../src/version.ts";
import { onRun, withCommonFlags } from "../command.ts";
import type { Context } from "../context.ts";
import { withExamples } from "../help/manual.ts";

export function defineVersion(command: Command, context: Context): void {
  withCommonFlags(command).option("--licenses", "print the licences of everything inside the executable");
  withExamples(command, "svc version", "svc version --licenses | less");
  onRun<{ licenses?: boolean }>(command, context, async ({ options, output }) => {
    const platform = `${process.platform}-${process.arch}`;
    if (options.licenses === true) {
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

/** Licence texts of everything the executable contains. Only a build collects them. */
async function thirdPartyNotices(): Promise<string> {
  if (!Bun.isStandaloneExecutable) {
    return "The third-party notices are part of the built executable: run `bun run build`, then `dist/svc version --licenses`.\n";
  }
  const { default: path } = await import("virtual:third-party-notices");
  return new TextDecoder().decode(Bun.zstdDecompressSync(await Bun.file(path).bytes()));
}
