import type { Command, Help, Option } from "commander";
import { wrapped } from "../format/wrapped.ts";
import { type Example, examplesOf, exitsOf, notesOf } from "./manual.ts";

/** Longer terms have a line of their own. */
const WIDEST_TERM = 30;
const NARROW = 60;
const INDENT = "  ";

/** Lays out the help of a command: what it does, examples, how it is written, then its arguments, flags and commands. */
export function formatHelp(command: Command, helper: Help): string {
  const width = helper.helpWidth ?? 80;
  const list = (title: string, items: readonly Item[]) =>
    items.length === 0
      ? []
      : [...wrapped(title, width), ...items.flatMap((item) => itemLines(item, items, width)), ""];
  const lists = <Each extends { helpGroup?: unknown }>(
    all: readonly Each[],
    groupOf: (each: Each) => string,
    itemOf: (each: Each) => Item,
  ) => Array.from(Map.groupBy(all, groupOf), ([title, group]) => list(title, group.map(itemOf))).flat();
  return [
    ...wrapped(sentence(command.description()), width),
    "",
    ...exampleLines(examplesOf(command), width),
    ...wrapped(`Usage: ${usageOf(command)}`, width),
    "",
    ...list(
      "Arguments:",
      helper
        .visibleArguments(command)
        .map((each) => ({ term: each.name(), text: helper.argumentDescription(each) })),
    ),
    ...lists(
      helper.visibleCommands(command),
      (each) => each.helpGroup() || "Commands:",
      (each) => ({
        term: [each.name(), ...argumentsOf(each)].join(" "),
        text: helper.subcommandDescription(each),
      }),
    ),
    ...lists(
      // The flags of every command come last.
      helper.visibleOptions(command).toSorted((a, b) => rankOf(a) - rankOf(b)),
      (each) => each.helpGroupHeading ?? "Flags:",
      (each) => ({ term: each.flags, text: helper.optionDescription(each) }),
    ),
    ...notesOf(command).flatMap((paragraph) => [...wrapped(paragraph, width), ""]),
  ].join("\n");
}

const rankOf = ({ helpGroupHeading }: Option) => (helpGroupHeading === undefined ? 0 : 1);

/** Names every command, on one screen. */
export function overviewOf(program: Command): string {
  const width = program.configureOutput().getOutHelpWidth?.() ?? 80;
  const commands = program.createHelp().visibleCommands(program);
  const groups = Map.groupBy(commands, (each) => each.helpGroup() || "Commands:");
  const lines = Array.from(groups, ([title, group]) => [
    title,
    ...wrapped(group.map((each) => each.name()).join("  "), width - INDENT.length).map(indented),
  ]);
  return [
    ...wrapped(sentence(program.description()), width),
    "",
    ...exampleLines(examplesOf(program), width),
    ...lines.flat(),
    "",
    ...wrapped("`svc COMMAND --help` explains one, `svc --help` lists all with what they do.", width),
    "",
  ].join("\n");
}

/** How a command is written: `svc keys show <key> [flags]`. */
export function usageOf(command: Command): string {
  // What can end by itself does something without a command below it, too.
  const below = exitsOf(command).size > 0 ? "[command]" : "<command>";
  const words = command.commands.length > 0 ? [below] : argumentsOf(command);
  return [pathOf(command), ...words, "[flags]"].join(" ");
}

function argumentsOf(command: Command): string[] {
  return command.registeredArguments.map((argument) => {
    const name = `${argument.name()}${argument.variadic ? "..." : ""}`;
    return argument.required ? `<${name}>` : `[${name}]`;
  });
}

/** `svc keys create` */
export function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

interface Item {
  readonly term: string;
  readonly text: string;
}

function itemLines({ term, text }: Item, all: readonly Item[], width: number): string[] {
  // Beside a term on a narrow screen, what it means would have no room.
  const isNarrow = width < NARROW;
  const longest = Math.max(...all.map((each) => each.term.length));
  const widest = isNarrow ? INDENT.length : Math.min(WIDEST_TERM, Math.floor(width / 2) - 4, longest);
  const indent = " ".repeat(INDENT.length + widest + 2);
  const lines = wrapped(text, width - indent.length).map((line) => indent + line);
  if (isNarrow || term.length > widest) return [INDENT + term, ...lines];
  const [first = "", ...rest] = lines;
  return [`${INDENT}${term.padEnd(widest)}  ${first.trimStart()}`.trimEnd(), ...rest];
}

function exampleLines(examples: readonly Example[], width: number): string[] {
  if (examples.length === 0) return [];
  const explained = examples.filter(({ about }) => about !== undefined);
  const longest = Math.max(...explained.map(({ command }) => command.length));
  const fits = explained.every(({ about = "" }) => INDENT.length + longest + 4 + about.length <= width);
  const lines = examples.flatMap(({ command, about }) => {
    if (about === undefined) return [command];
    if (fits) return [`${command.padEnd(longest)}  # ${about}`];
    return [...wrapped(about, width - INDENT.length - 2).map((line) => `# ${line}`), command];
  });
  return ["Examples:", ...lines.map(indented), ""];
}

const indented = (line: string) => INDENT + line;

/** `create a key` as a sentence. */
function sentence(text: string): string {
  const last = /[.!?]$/.test(text) ? "" : ".";
  return text === "" ? "" : text.charAt(0).toUpperCase() + text.slice(1) + last;
}
