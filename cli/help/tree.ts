import type { Argument, Command, Option } from "commander";
import type { JsonObject } from "../../src/domain/json.ts";
import { VERSION } from "../../src/version.ts";
import { collect } from "../command.ts";
import { EXIT, listExitCodes } from "../exit-codes.ts";
import { pathOf, usageOf } from "./layout.ts";
import { examplesOf, exitsOf, notesOf } from "./manual.ts";

/** The command tree for programs: `svc help --json`. Fields are only ever added. */
export function treeOf(program: Command): JsonObject {
  return {
    version: VERSION,
    ...nodeOf(program),
    exit_codes: listExitCodes().map(([code, meaning]) => ({ code, meaning })),
  };
}

/** One command with those below it: `svc help keys --json`. */
export function nodeOf(command: Command): JsonObject {
  const helper = command.createHelp();
  const args = command.registeredArguments;
  return {
    name: command.name(),
    path: pathOf(command),
    description: command.description(),
    usage: usageOf(command),
    aliases: command.aliases(),
    arguments: args.map(argumentOf),
    flags: helper.visibleOptions(command).map(flagOf),
    examples: examplesOf(command).map(({ command: line, about }) => ({
      command: line,
      about: about ?? null,
    })),
    notes: [...notesOf(command)],
    exit_codes: [...exitsOf(command)].map((name) => EXIT[name]),
    commands: helper.visibleCommands(command).map(nodeOf),
  };
}

function argumentOf(argument: Argument): JsonObject {
  return {
    name: argument.name(),
    description: argument.description === "" ? null : argument.description,
    required: argument.required,
    repeatable: argument.variadic,
    choices: argument.argChoices ?? null,
  };
}

function flagOf(option: Option): JsonObject {
  const [, value] = /[<[](.+?)(?:\.\.\.)?[\]>]/.exec(option.flags) ?? [];
  return {
    name: option.long ?? option.short ?? "",
    short: option.long === undefined ? null : (option.short ?? null),
    description: option.description,
    type: value === undefined ? "boolean" : option.argChoices === undefined ? "text" : "choice",
    /** What the value is, in a word. */
    value: value ?? null,
    required: option.mandatory,
    repeatable: option.variadic || option.parseArg === collect,
    default: value !== undefined && typeof option.defaultValue === "string" ? option.defaultValue : null,
    choices: option.argChoices ?? null,
    variable: variableOf(option),
  };
}

/** Help names the variable that stands in for a flag in parentheses: `(SVC_SERVER; default …)`. */
function variableOf({ description }: Option): string | null {
  return /\((?:[^()]*; )?(SVC_[A-Z_]+)(?:; [^()]*)?\)$/.exec(description)?.[1] ?? null;
}
