import { type Command, Option } from "commander";
import type { Given, GivenTerms, Kind, Term, TermOf, TermTable } from "../../src/domain/access/term.ts";
import { AppError } from "../../src/domain/errors.ts";
import { QUOTA_RESETS } from "../../src/domain/money/quota.ts";
import { namesFrom } from "../../src/domain/words/say.ts";
import { Failure, usage } from "../failure.ts";
import {
  type FlagValues,
  flagText,
  flagTexts,
  nameOf,
  readAmount,
  readDuration,
  readMultiplier,
  readTime,
  unreadable,
} from "./values.ts";

/** Words that unset a term that can be unset. No check is a choice of checks. */
const UNSETTING = ["none", "any", "never"];
const UNSETTING_CHECKS = ["default"];

/** Adds a flag for each term of a table. */
export function withTermFlags(command: Command, table: TermTable): Command {
  for (const term of Object.values(table)) {
    const option = new Option(term.flag, term.help);
    // Commander checks the words of a choice that cannot be unset.
    command.addOption(
      term.kind === "choice" && term.unset === undefined ? option.choices(term.among) : option,
    );
    if (term.kind === "quota")
      command.addOption(new Option(term.reset.flag, term.reset.help).choices(QUOTA_RESETS));
  }
  return command;
}

/** @throws Failure (exit 2) naming the flag, for what cannot be read */
export function readTermFlags<Table extends TermTable>(
  table: Table,
  flags: FlagValues,
  now: number,
): GivenTerms<Table> {
  const given = Object.entries(table).map(([name, term]) => [
    name,
    term.kind === "quota" ? readQuota(term, flags) : readTerm(term, flags, now),
  ]);
  // Each value was read as the kind of its term.
  return Object.fromEntries(given) as GivenTerms<Table>;
}

/** The flags that give the fields of the management API, by those fields' paths. */
export function flagNames(table: TermTable): Readonly<Record<string, string>> {
  const names = Object.values(table).flatMap((term) =>
    term.kind === "quota"
      ? [
          [`${term.wire}.limit`, nameOf(term)],
          [`${term.wire}.reset`, nameOf(term.reset)],
        ]
      : [[term.wire, nameOf(term)]],
  );
  return Object.fromEntries(names);
}

/**
 * Waits for a call whose arguments came from flags. A refusal of one of them names the flag and ends with exit code 2.
 *
 * @param flags the flags, by the fields of the management API that they give
 */
export async function namingFlags<T>(done: Promise<T>, flags: Readonly<Record<string, string>>): Promise<T> {
  try {
    return await done;
  } catch (error) {
    if (error instanceof Failure) throw error.ofField(namesFrom(flags));
    if (!(error instanceof AppError) || error.param === undefined) throw error;
    const renamed = error.renamed(namesFrom(flags));
    throw renamed.param === error.param ? error : usage(renamed.message);
  }
}

/** @returns null for a word that unsets a term, undefined for nothing */
function readTerm(term: Term, flags: FlagValues, now: number): unknown {
  const texts = flagTexts(term, flags);
  if (texts === undefined) return undefined;
  const [text = ""] = texts;
  const unsetting = term.kind === "checks" ? UNSETTING_CHECKS : UNSETTING;
  if (term.unset !== undefined && texts.length === 1 && unsetting.includes(text)) return null;
  const read = READERS[term.kind] as (flag: string, texts: readonly string[], now: number) => unknown;
  return read(nameOf(term), texts, now);
}

function readQuota(term: TermOf<"quota">, flags: FlagValues): Given["quota"] | null | undefined {
  const limit = readTerm(term, flags, 0) as Given["quota"] | null | undefined;
  const reset = flagText(term.reset, flags);
  if (limit === null && reset !== undefined)
    throw usage(`A quota that is lifted has no ${nameOf(term.reset)}.`);
  return reset === undefined ? limit : { ...limit, reset };
}

const READERS: {
  readonly [K in Kind]: (flag: string, texts: readonly string[], now: number) => Given[K];
} = {
  count: (flag, [text = ""]) => {
    if (/^\d{1,15}$/.test(text)) return Number(text);
    throw unreadable(flag, "a whole number from 1, or none", text);
  },
  duration: (flag, [text = ""]) => readDuration(flag, text) / 1000,
  time: (flag, [text = ""], now) => readTime(flag, text, now),
  amount: (flag, [text = ""]) => readAmount(flag, text),
  multiplier: (flag, [text = ""]) => readMultiplier(flag, text),
  choice: (_, [text = ""]) => text,
  choices: (_, texts) => split(texts),
  patterns: (_, texts) => split(texts),
  ranges: (_, texts) => split(texts),
  aliases: (flag, texts) => Object.fromEntries(split(texts).map((text) => readAlias(flag, text))),
  checks: (_, texts) => (texts.join() === "none" ? [] : split(texts)),
  quota: (flag, [text = ""]) => ({ limit: readAmount(flag, text) }),
};

const split = (texts: readonly string[]): string[] =>
  texts.flatMap((text) => text.split(",")).map((each) => each.trim());

function readAlias(flag: string, text: string): [alias: string, model: string] {
  const at = text.indexOf("=");
  if (at > 0 && at < text.length - 1) return [text.slice(0, at).trim(), text.slice(at + 1).trim()];
  throw unreadable(flag, "like gpt-image-1=sandbox-image, or none", text);
}
