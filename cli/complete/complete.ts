import type { Command } from "commander";
import type { Context } from "../context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { printable } from "../format/printable.ts";
import { HELP_TOPICS } from "../help/topics.ts";
import { type Candidate, type Completing, completing, type Live } from "./candidates.ts";

type CreateProgram = (args: readonly string[]) => Promise<Command>;

/**
 * Answers a shell, which calls `svc __complete -- WORDS…`; the last word is being typed. Each line is a word and, after a tab, what
 * it is. The last line says how to go on: `:words`, `:nospace` when more of the same word follows, or `:files BEFORE` when a path
 * follows BEFORE, which is part of the word.
 */
export async function complete(
  args: readonly string[],
  context: Context,
  createProgram: CreateProgram,
): Promise<ExitCode> {
  const at = args.indexOf("--") + 1;
  // Some shells cannot pass an empty word.
  const words = args.slice(0, at).includes("--empty") ? [...args.slice(at), ""] : args.slice(at);
  const program = await createProgram(words.length > 1 ? words.slice(0, -1) : []);
  const found = completing(program, words);
  const { lines, next } = await answer(found, program, context);
  const shown = lines.map(({ word, about }) => {
    const text = `${found.prefix}${word}`;
    return about === "" ? `${text}\n` : `${text}\t${printable(about.replaceAll(/\s+/g, " "))}\n`;
  });
  context.stdout.write(`${shown.join("")}:${next}\n`);
  return EXIT.ok;
}

interface Answer {
  readonly lines: readonly Candidate[];
  readonly next: string;
}

async function answer(found: Completing, program: Command, context: Context): Promise<Answer> {
  const { completion, prefix, typed } = found;
  const files = (before: string) => ({ lines: [], next: `files ${before}`.trimEnd() });
  if (completion.kind === "files") return files(prefix);
  if (completion.kind === "words") return { lines: fitting(completion.words, typed), next: "words" };
  const [file] = /^[\w.-]+=@/.exec(typed) ?? [];
  if (completion.of === "field" && file !== undefined) return files(prefix + file);
  const all = completion.of === "topic" ? await topics(program) : await live(completion.of, found, context);
  const isValue = typed.includes("=");
  const lines = fitting(all, typed).filter(
    ({ word }) => !word.includes("=") || isValue !== word.endsWith("="),
  );
  return { lines, next: completion.of === "field" && !isValue ? "nospace" : "words" };
}

async function live(of: Live, { flags }: Completing, context: Context): Promise<readonly Candidate[]> {
  const { liveNames } = await import("./live.ts");
  return await liveNames(of, flags, context);
}

async function topics(program: Command): Promise<readonly Candidate[]> {
  const commands = program.commands.map((each) => ({ word: each.name(), about: each.description() }));
  return [...HELP_TOPICS.map((word) => ({ word, about: "" })), ...commands];
}

/** Those that begin with what is typed, without any that a terminal would take for commands. */
function fitting(candidates: readonly Candidate[], typed: string): readonly Candidate[] {
  return candidates.filter(
    ({ word }) => word !== "" && word.startsWith(typed) && printable(word) === word && !/\s/.test(word),
  );
}
