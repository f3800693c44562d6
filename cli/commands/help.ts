import type { Command } from "commander";
import { serviceSettings } from "../../src/app/settings.ts";
import { variableOf } from "../../src/config/settings.ts";
import { findCommand, OTHER_COMMANDS } from "../command.ts";
import type { Context } from "../context.ts";
import { ENVIRONMENT_HELP } from "../environment.ts";
import { describeExitCodes } from "../exit-codes.ts";
import { usage } from "../failure.ts";

const TOPICS: Readonly<Record<string, () => string>> = {
  "exit-codes": describeExitCodes,
  environment: () => `${ENVIRONMENT_HELP}The server's own variables are in \`svc help settings\`.\n`,
  settings: describeSettings,
};

/** `svc help`, `svc help keys create`, `svc help exit-codes`. */
export function addHelp(program: Command, context: Context): void {
  const topics = Object.keys(TOPICS).join(", ");
  program
    .command("help [topic...]")
    .helpGroup(OTHER_COMMANDS)
    .description(`explain a command, or one of: ${topics}`)
    .action((words: string[]) => {
      const topic = words.length === 1 ? TOPICS[words[0] ?? ""] : undefined;
      context.stdout.write(topic === undefined ? find(program, words).helpInformation() : topic());
    });
}

function find(program: Command, words: readonly string[]): Command {
  let at = program;
  for (const word of words) {
    const next = findCommand(at, word);
    if (next === undefined) {
      throw usage(
        `There is no help on "${words.join(" ")}".`,
        `Topics are ${Object.keys(TOPICS).join(", ")} and every command.`,
      );
    }
    at = next;
  }
  return at;
}

/** Every setting in its three forms. */
function describeSettings(): string {
  const blocks = serviceSettings().map((setting) => {
    const { key, flag, help, fallback, fallbackText } = setting;
    const standard = fallbackText ?? (fallback === undefined ? "unset" : String(fallback));
    return `${key} (default ${standard})\n    ${help}\n    ${variableOf(setting)}   ${flag}\n`;
  });
  return [
    "A flag goes before the variable, the variable before svc.yaml, svc.yaml before the default.\n",
    "svc.yaml (or svc.yml) is read from the data folder, or another file with --config FILE or SVC_CONFIG.\n",
    "Names with a dot are nested there: log.level is `level` below `log`.\n",
    "`pricing` holds prices by model, only there: see `svc pricing set`.\n",
    "Keys are taken from variables alone: SVC_SECRET_KEY seals the secrets that sign callbacks (default: a key in the\n",
    "data folder), SVC_SECRET_KEY_PREVIOUS is what it was before; providers name theirs.\n\n",
    ...blocks,
  ].join("");
}
