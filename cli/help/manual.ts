import type { Command } from "commander";
import type { ExitName } from "../exit-codes.ts";

/** A command line that works unchanged, and what it does if that is not obvious. */
export interface Example {
  readonly command: string;
  readonly about?: string | undefined;
}

/** What a command says of itself beside its arguments and flags. */
interface Manual {
  readonly examples: Example[];
  readonly notes: string[];
  readonly exits: Set<ExitName>;
}

/** Commander has no room for these. */
const MANUALS = new WeakMap<Command, Manual>();

/** Adds examples, which lead the help of a command: a command line each, or one and what it does. */
export function withExamples(
  command: Command,
  ...examples: readonly (string | readonly [command: string, about: string])[]
): Command {
  const added = examples.map((each): Example => {
    if (typeof each === "string") return { command: each };
    return { command: each[0], about: each[1] };
  });
  manualOf(command).examples.push(...added);
  return command;
}

/** Adds paragraphs below a command's flags. */
export function withNotes(command: Command, ...paragraphs: readonly string[]): Command {
  manualOf(command).notes.push(...paragraphs);
  return command;
}

export function notesOf(command: Command): readonly string[] {
  return manualOf(command).notes;
}

/** Says with which exit codes a command may end. */
export function withExits(command: Command, ...names: readonly ExitName[]): Command {
  for (const name of names) manualOf(command).exits.add(name);
  return command;
}

/** A group shows the first example of each of its commands. */
export function examplesOf(command: Command): readonly Example[] {
  const own = manualOf(command).examples;
  if (own.length > 0) return own;
  return command.commands.flatMap((each) => examplesOf(each).slice(0, 1));
}

export function exitsOf(command: Command): ReadonlySet<ExitName> {
  return manualOf(command).exits;
}

function manualOf(command: Command): Manual {
  const known = MANUALS.get(command);
  if (known !== undefined) return known;
  const manual: Manual = { examples: [], notes: [], exits: new Set() };
  MANUALS.set(command, manual);
  return manual;
}
