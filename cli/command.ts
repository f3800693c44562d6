import { type Command, Option } from "commander";
import { namingLocalServer } from "./client/local-server.ts";
import type { Context } from "./context.ts";
import type { ServerFlags } from "./environment.ts";
import { readSecretFiles } from "./flags/credentials.ts";
import { createOutput, type Output, type OutputFlags } from "./format/output.ts";
import { withExits } from "./help/manual.ts";

export const COMMON_FLAGS = "Flags of every command:";

/** What a command's action receives. */
export interface Invocation<Options> {
  readonly context: Context;
  readonly output: Output;
  readonly options: Options & OutputFlags;
  /** The arguments in declared order; absent ones are undefined. */
  readonly args: readonly (string | undefined)[];
}

/** Adds a command below another. @param usage its name and its arguments */
export function addCommand(parent: Command, usage: string, description: string): Command {
  return parent.command(usage).description(description);
}

/** Adds the commands of a group, or only the one that a command line names: to define all takes milliseconds. */
export function addCommands(
  group: Command,
  context: Context,
  adders: Readonly<Record<string, (group: Command, context: Context) => void>>,
  word: string | undefined,
): void {
  const named = Object.hasOwn(adders, word ?? "") ? adders[word ?? ""] : undefined;
  for (const add of named === undefined ? Object.values(adders) : [named]) add(group, context);
}

/** Says what a command's only argument is, and which words it may be. */
export function describeArgument(command: Command, about: string, words: readonly string[]): void {
  const [argument] = command.registeredArguments;
  if (argument === undefined) throw new Error(`${command.name()} has no argument.`);
  argument.description = about;
  argument.choices(words);
}

/** The flags and exit codes that every command with an action has. */
export function withCommonFlags(command: Command): Command {
  for (const option of commonOptions()) command.addOption(option.helpGroup(COMMON_FLAGS));
  return withExits(command, "ok", "error", "usage");
}

/** Every command takes it, so that scripts can give it always. */
export function noInputOption(): Option {
  const option = new Option("--no-input", "never ask; fail and say which flag to give");
  // Not the opposite of --input, which is a flag of some commands.
  option.negate = false;
  return option.helpGroup(COMMON_FLAGS);
}

function commonOptions(): Option[] {
  return [
    new Option("--json", "print JSON"),
    new Option("--field <path>", "print one value of the JSON: task_id, tasks.0.model, tasks.*.task_id"),
    new Option("--plain", "print tab-separated lines without a heading, as into a pipe"),
    new Option("-q, --quiet", "print results and errors only"),
    new Option("--no-color", "print without colours"),
    noInputOption(),
    // Shown where there is something to confirm.
    new Option("-y, --yes", "do not ask for confirmation").hideHelp(),
  ];
}

/** Sets the action of a command. */
export function onRun<Options>(
  command: Command,
  context: Context,
  action: (invocation: Invocation<Options>) => Promise<void>,
): Command {
  return command.action(async () => {
    const given = command.opts<Options & OutputFlags>();
    const output = await createOutput(context, given);
    const options = await readSecretFiles(given, context);
    try {
      // Safe: commander passes text, and no argument has a parser.
      await action({ context, output, options, args: command.processedArgs as (string | undefined)[] });
    } catch (error) {
      // Commands that ask a server have its flags; others fail otherwise.
      throw await namingLocalServer(error, context, options as ServerFlags);
    } finally {
      // An error begins a line of its own, and not behind what was said of retries.
      output.clear();
    }
  });
}

/** Reads an argument that commander requires. */
export function given(args: readonly (string | undefined)[], index: number): string {
  const value = args[index];
  if (value === undefined)
    throw new Error(`Argument ${index + 1} is declared as required, and is not there.`);
  return value;
}

/** Finds a subcommand by its name or an alias. */
export function findCommand({ commands }: Command, word: string): Command | undefined {
  return commands.find((command) => command.name() === word || command.aliases().includes(word));
}

/** An option that may be repeated. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}
