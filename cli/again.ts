import type { Command } from "commander";

/** Secrets, which are not printed. */
const HIDDEN = new Set(["key", "token"]);
/** Text that every shell takes unchanged. */
const PLAIN = /^[\w%+,./:=@-]+$/;

/** The running command as a shell command line, with its flags as given and some of them changed. Leaves secrets out. */
export function commandAgain(command: Command, changed: Readonly<Record<string, string>>): string {
  return [...pathOf(command), ...command.args.map(quoted), ...flagsOf(command, () => true, changed)].join(
    " ",
  );
}

/** Flags that say where a command works. */
const PLACE = ["server", "profile", "allAccounts", "local", "dataDir", "config"];

/** The flags of a command that say where it works, as they were given, to be put after another command that works there. */
export function placeAgain(command: Command): string {
  return flagsAgain(command, PLACE);
}

/** Some flags of a command as they were given, by their names in its options, to be put after another command. */
function flagsAgain(command: Command, names: readonly string[]): string {
  return flagsOf(command, (name) => names.includes(name), {})
    .map((text) => ` ${text}`)
    .join("");
}

function flagsOf(
  command: Command,
  isWanted: (name: string) => boolean,
  changed: Readonly<Record<string, string>>,
): string[] {
  return command.options.flatMap((option) => {
    const name = option.attributeName();
    if (HIDDEN.has(name) || !isWanted(name)) return [];
    const isGiven = command.getOptionValueSource(name) === "cli";
    const value: unknown = changed[name] ?? (isGiven ? command.getOptionValue(name) : undefined);
    if (value === undefined) return [];
    const flag = option.long ?? option.short ?? "";
    return typeof value === "boolean" ? [flag] : [flag, quoted(String(value))];
  });
}

function pathOf(command: Command): string[] {
  return [...(command.parent === null ? [] : pathOf(command.parent)), command.name()];
}

/** Quotes a word, so that a shell takes it unchanged. */
export function quoted(text: string): string {
  return PLAIN.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
