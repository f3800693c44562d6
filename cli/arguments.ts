import { type Command, CommanderError, type Option } from "commander";
import { suggest } from "../src/domain/suggest.ts";
import { findCommand } from "./command.ts";
import { type Failure, usage } from "./failure.ts";
import { pathOf } from "./help/layout.ts";

/** Moves flags that stand before a command's name behind it: `svc --json keys list` is `svc keys list --json`. */
export function flagsLast(program: Command, args: readonly string[]): readonly string[] {
  const words: string[] = [];
  const flags: string[] = [];
  let command = program;
  let i = 0;
  for (; i < args.length && command.commands.length > 0; i++) {
    const arg = args[i] ?? "";
    if (arg === "--") break;
    if (arg.startsWith("-")) {
      const value = args[i + 1];
      const hasValue = value !== undefined && findOption(command, arg)?.required === true;
      flags.push(arg, ...(hasValue ? [value] : []));
      if (hasValue) i++;
      continue;
    }
    const next = findCommand(command, arg);
    if (next === undefined) break;
    words.push(arg);
    command = next;
  }
  return words.length === 0 ? args : [...words, ...flags, ...args.slice(i)];
}

/** A flag of a command, or else of one below it. */
export function findOption(command: Command, flag: string): Option | undefined {
  const own = command.options.find(({ long, short }) => long === flag || short === flag);
  if (own !== undefined) return own;
  for (const each of command.commands) {
    const found = findOption(each, flag);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Commander reports a missing required flag before an unknown one, which may be the same flag misspelt. */
export function misspeltFlag(command: Command, args: readonly string[], error: unknown): Failure | undefined {
  const isMissing = error instanceof CommanderError && error.code === "commander.missingMandatoryOptionValue";
  if (!isMissing) return undefined;
  const [flag = ""] = command.parseOptions([...args]).unknown;
  const [name = ""] = flag.split("=");
  if (!name.startsWith("-")) return undefined;
  const near = suggest(
    name,
    command.options.flatMap(({ long }) => long ?? []),
  );
  const hint = near === undefined ? "" : ` Did you mean ${near}?`;
  return usage(`Unknown option '${name}'.${hint}`, `See \`${pathOf(command)} --help\`.`);
}

/** Makes every flag and argument that takes one of several words list them, with the nearest one, when it gets any other word. */
export function explainChoices(command: Command): void {
  for (const option of command.options) {
    const parse = option.parseArg;
    if (option.argChoices === undefined || parse === undefined) continue;
    option.parseArg = <T>(text: string, before: T) =>
      parse(chosen(nameOf(option), text, option.argChoices), before);
  }
  for (const argument of command.registeredArguments) {
    const parse = argument.parseArg;
    if (argument.argChoices === undefined || parse === undefined) continue;
    argument.parseArg = <T>(text: string, before: T) =>
      parse(chosen(`<${argument.name()}>`, text, argument.argChoices), before);
  }
  for (const each of command.commands) explainChoices(each);
}

const nameOf = ({ long, short }: Option): string => long ?? short ?? "";

/** @throws Failure if the text is none of the choices */
function chosen(what: string, text: string, choices: readonly string[] = []): string {
  if (choices.includes(text)) return text;
  const near = suggest(text, choices);
  const hint = near === undefined ? undefined : `Did you mean ${near}?`;
  throw usage(
    `${what} must be one of ${choices.join(", ")}, got ${JSON.stringify(text.slice(0, 80))}.`,
    hint,
  );
}
