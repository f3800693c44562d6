import type { Argument, Command, Option } from "commander";
import { findOption } from "../arguments.ts";
import { collect, findCommand } from "../command.ts";
import { suggestedFor } from "../flags/suggested.ts";

/** A possible completion of the typed word, and its description. */
export interface Candidate {
  readonly word: string;
  readonly about: string;
}

/** Names that only a server or a data folder knows. */
export type Live =
  | "model"
  | "task"
  | "callback"
  | "key"
  | "account"
  | "token"
  | "provider"
  | "profile"
  | "topic"
  | "field";

/** What completes a word. */
export type Completion =
  | { readonly kind: "words"; readonly words: readonly Candidate[] }
  | { readonly kind: "files" }
  | { readonly kind: "live"; readonly of: Live };

/** The word that is typed, what stands before it, and what may take its place. */
export interface Completing {
  readonly completion: Completion;
  /** What shells leave as it is before a value: `--model=`. */
  readonly prefix: string;
  /** The part of the word that is completed. */
  readonly typed: string;
  /** Values of the flags before it, by their long names. */
  readonly flags: ReadonlyMap<string, string>;
}

const NOTHING: Completion = { kind: "words", words: [] };

/** Finds out what the last of these words may be. */
export function completing(program: Command, words: readonly string[]): Completing {
  const typed = words.at(-1) ?? "";
  const { command, waiting, given, position, isPlain, isLost } = readWords(program, words.slice(0, -1));
  const result = (completion: Completion, prefix = "", rest = typed): Completing => ({
    completion: isLost ? NOTHING : completion,
    prefix,
    typed: rest,
    flags: given,
  });
  if (waiting !== undefined) return result(completionOf(waiting));
  const [, flag, value] = /^(--[^=]+)=(.*)$/s.exec(isPlain ? "" : typed) ?? [];
  if (flag !== undefined && value !== undefined) {
    const option = findOption(command, flag);
    return result(option?.required === true ? completionOf(option) : NOTHING, `${flag}=`, value);
  }
  if (typed.startsWith("-") && !isPlain) return result(listed(flagsOf(command, given)));
  if (command.commands.length > 0) return result(listed(commandsOf(command)));
  const args = command.registeredArguments;
  const argument = args[position] ?? (args.at(-1)?.variadic === true ? args.at(-1) : undefined);
  return result(argument === undefined ? listed(flagsOf(command, given)) : argumentOf(argument));
}

interface Read {
  readonly command: Command;
  /** A flag whose value is next. */
  readonly waiting: Option | undefined;
  readonly given: ReadonlyMap<string, string>;
  /** How many arguments stand before. */
  readonly position: number;
  /** After `--`, nothing is a flag. */
  readonly isPlain: boolean;
  /** After a word that is no command. */
  readonly isLost: boolean;
}

function readWords(program: Command, words: readonly string[]): Read {
  const given = new Map<string, string>();
  let command = program;
  let waiting: Option | undefined;
  let position = 0;
  let isPlain = false;
  let isLost = false;
  for (const word of words) {
    if (waiting !== undefined) {
      given.set(waiting.long ?? "", word);
      waiting = undefined;
    } else if (word === "--" && !isPlain) isPlain = true;
    else if (word.startsWith("-") && !isPlain) {
      const [name = "", ...rest] = word.split("=");
      const option = findOption(command, name);
      if (option?.required === true && rest.length === 0) waiting = option;
      else given.set(option?.long ?? name, rest.join("="));
    } else if (command.commands.length > 0) {
      const next = findCommand(command, word);
      isLost ||= next === undefined;
      command = next ?? command;
    } else position++;
  }
  return { command, waiting, given, position, isPlain, isLost };
}

const listed = (words: readonly Candidate[]): Completion => ({ kind: "words", words });

function commandsOf(command: Command): Candidate[] {
  return command
    .createHelp()
    .visibleCommands(command)
    .map((each) => ({ word: each.name(), about: each.description() }));
}

const rankOf = ({ mandatory, helpGroupHeading }: Option) =>
  mandatory ? 0 : helpGroupHeading === undefined ? 1 : 2;

/** Those that are not given: required ones first, those of every command last. */
function flagsOf(command: Command, given: ReadonlyMap<string, string>): Candidate[] {
  return command
    .createHelp()
    .visibleOptions(command)
    .filter(({ long, variadic, parseArg }) => variadic || parseArg === collect || !given.has(long ?? ""))
    .toSorted((a, b) => rankOf(a) - rankOf(b))
    .map(({ long, short, description }) => ({ word: long ?? short ?? "", about: description }));
}

/** What a flag's value is, by the word that stands for it: `--model <model>`. */
function completionOf(option: Option): Completion {
  const words = option.argChoices ?? suggestedFor(option);
  if (words !== undefined) return choices(words);
  if (option.long === "--profile") return { kind: "live", of: "profile" };
  const [, word = ""] = /[<[](.+?)(?:\.\.\.)?[\]>]/.exec(option.flags) ?? [];
  // A key or a token that a flag takes is a secret and no name; the path of --field is none in a file system.
  return word === "key" || word === "token" || option.long === "--field" ? NOTHING : named(word);
}

function argumentOf(argument: Argument): Completion {
  return argument.argChoices === undefined ? named(argument.name()) : choices(argument.argChoices);
}

const choices = (among: readonly string[]) => listed(among.map((word) => ({ word, about: "" })));

const LIVE: Readonly<Record<string, Live>> = {
  ...{ model: "model", task: "task", tasks: "task", callback: "callback" },
  ...{
    key: "key",
    account: "account",
    token: "token",
    provider: "provider",
    topic: "topic",
    "name=value": "field",
  },
};
/** Words for values that are files or folders. */
const FILES = /^(?:file|files|folder|image|images|mask|path)$/;

function named(word: string): Completion {
  const of = LIVE[word];
  if (of !== undefined) return { kind: "live", of };
  return FILES.test(word) ? { kind: "files" } : NOTHING;
}
