import type { Command } from "commander";
import { serviceSettings } from "../../src/app/settings.ts";
import { restartReason } from "../../src/config/restart.ts";
import { variableOf } from "../../src/config/settings.ts";
import type { JsonObject } from "../../src/domain/json.ts";
import { suggest } from "../../src/domain/suggest.ts";
import { findCommand, onRun, withCommonFlags } from "../command.ts";
import type { Context } from "../context.ts";
import { ENVIRONMENT_HELP } from "../environment.ts";
import { describeExitCodes, listExitCodes } from "../exit-codes.ts";
import { usage } from "../failure.ts";
import { FORMATTING_HELP } from "../help/formatting.ts";
import { overviewOf } from "../help/layout.ts";
import { withExamples } from "../help/manual.ts";
import { HELP_TOPICS } from "../help/topics.ts";
import { nodeOf, treeOf } from "../help/tree.ts";

interface Topic {
  readonly text: () => string;
  /** Its facts, for programs; otherwise they get the text. */
  readonly facts?: () => JsonObject;
}

const TOPICS: Readonly<Record<(typeof HELP_TOPICS)[number], Topic>> = {
  formatting: { text: () => FORMATTING_HELP },
  environment: {
    text: () => `${ENVIRONMENT_HELP}The server's own variables are in \`svc help settings\`.\n`,
  },
  "exit-codes": {
    text: describeExitCodes,
    facts: () => ({ exit_codes: listExitCodes().map(([code, meaning]) => ({ code, meaning })) }),
  },
  settings: { text: describeSettings, facts: () => ({ settings: settingFacts() }) },
};

/** `svc help`, `svc help keys create`, `svc help exit-codes`. */
export function defineHelp(command: Command, context: Context): void {
  withCommonFlags(command);
  withExamples(command, "svc help keys create", "svc help exit-codes", [
    "svc help --json",
    "every command and flag, for programs",
  ]);
  onRun(command, context, async ({ output }) => {
    const words = command.args;
    const named = words.length === 1 ? HELP_TOPICS.find((each) => each === words[0]) : undefined;
    if (named !== undefined) {
      const topic: Topic = TOPICS[named];
      output.show(topic.facts?.() ?? { text: topic.text() }, topic.text);
      return;
    }
    const program = command.parent;
    if (program === null) throw new Error("help is a command of svc.");
    const found = find(program, words);
    const isWhole = found === program;
    output.show(isWhole ? treeOf(program) : nodeOf(found), () =>
      isWhole ? overviewOf(program) : found.helpInformation(),
    );
  });
}

function find(program: Command, words: readonly string[]): Command {
  let at = program;
  for (const word of words) {
    const next = findCommand(at, word);
    if (next === undefined) throw unknownTopic(at, words, word);
    at = next;
  }
  return at;
}

function unknownTopic(at: Command, words: readonly string[], word: string) {
  const isFirst = at.parent === null;
  const names = at.commands.flatMap((each) => [each.name(), ...each.aliases()]);
  const near = suggest(word, isFirst ? [...HELP_TOPICS, ...names] : names);
  const before = words.slice(0, words.indexOf(word)).map((each) => `${each} `);
  return usage(
    `There is no help on "${words.join(" ")}".${near === undefined ? "" : ` Did you mean ${before.join("")}${near}?`}`,
    `Topics are ${HELP_TOPICS.join(", ")} and every command.`,
  );
}

/** Every setting in its three forms. */
function describeSettings(): string {
  const blocks = settingFacts().map(
    ({ name, flag, variable, description, default: standard, restart }) =>
      `${name} (default ${standard ?? "unset"}${restart === null ? "; changes without a restart" : `; needs a restart: ${restart}`})\n    ${description}\n    ${variable}${flag === null ? "" : `   ${flag}`}\n`,
  );
  return [
    "A flag goes before the variable, the variable before svc.yaml, svc.yaml before the default.\n",
    "svc.yaml (or svc.yml) is read from the data folder, or another file with --config FILE or SVC_CONFIG.\n",
    "Names with a dot are nested there: log.level is `level` below `log`.\n",
    "`pricing` holds prices by model, only there: see `svc pricing set`.\n",
    "`providers.ID.accounts` lists several accounts of a provider, only there; no key belongs into the file.\n",
    "Keys are taken from variables: SVC_SECRET_KEY seals the secrets that sign callbacks (default: a key in the\n",
    "data folder), SVC_SECRET_KEY_PREVIOUS is what it was before; providers name theirs.\n\n",
    ...blocks,
  ].join("");
}

function settingFacts() {
  const all = serviceSettings();
  return all.map((setting) => {
    const restart = restartReason(setting, all);
    const { key, flag, help, fallback, fallbackText } = setting;
    const standard = fallbackText ?? (fallback === undefined ? null : String(fallback));
    return {
      name: key,
      flag: flag ?? null,
      variable: variableOf(setting),
      description: help,
      default: standard,
      live: restart === undefined,
      restart: restart ?? null,
    };
  });
}
