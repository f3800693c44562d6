import { type Rule, readRules } from "../../../src/moderation/rules/rules.ts";
import { threadCpuMs } from "../../../src/runtime/thread-time.ts";
import { measurement } from "../run/report.ts";
import { interleave } from "../run/statistics.ts";
import type { Bench } from "./bench.ts";

const RULES = 1_000;
const LENGTH = 4_000;
const READINGS = 2_000;
const HOSTILE = 20;
const OF_CHINESE = "beginnings of Chinese words";
const TARGET = { kind: "most", value: 50 } as const;

/** Numbers that are the same in each run. */
function numbers(seed: number): (most: number) => number {
  let state = seed;
  return (most) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return (state >>> 8) % most;
  };
}

function words(count: number, seed: number, from: number, kinds: number, least: number): string[] {
  const next = numbers(seed);
  const word = () =>
    Array.from({ length: least + next(least * 2) }, () => String.fromCharCode(from + next(kinds))).join("");
  return Array.from({ length: count }, word);
}

const WORDS = words(RULES, 1, 97, 26, 5);
const HAN = words(RULES, 2, 0x4e00, 3_000, 2);
/** Words without their last letter. */
const BEGINNINGS = WORDS.map((word) => word.slice(0, -1));

const filled = (text: string) => text.repeat(Math.ceil(LENGTH / text.length)).slice(0, LENGTH);
const rulesOf = (kind: Rule["kind"], texts: readonly string[]): Rule[] =>
  texts.map((text, i) => ({ kind, text, name: `${kind} ${i}`, where: "" }));

/** Half of the rules are words, half patterns around words. */
const MIXED: readonly Rule[] = [
  ...rulesOf("word", WORDS.slice(0, RULES / 2)),
  ...rulesOf(
    "pattern",
    WORDS.slice(RULES / 2).map((word, i) => (i % 2 ? `\\b${word}\\s+\\w+` : `${word}\\d{1,3}`)),
  ),
];

/** What rules of moderation add to a create, by what the prompt is like. */
export const moderation: Bench = async ({ rounds, scaled }) => {
  const mixed = await ready(MIXED);
  const han = await ready(rulesOf("word", HAN));
  const texts: Readonly<Record<string, string>> = {
    English: "The quick brown fox jumps over a lazy dog, painted in oil on a dark canvas; ",
    Russian: "Съешь же ещё этих мягких французских булок, да выпей чаю. ",
    Chinese: "一只可爱的猫坐在窗台上看着外面的雨，",
    "one letter": "a",
    "a letter and a space": "a ",
    "beginnings of all words": BEGINNINGS.slice(0, RULES / 2).join(" "),
    emoji: "😀 smile ",
    "letters in disguise": "𝐩𝐚𝐢𝐧𝐭 ß ",
  };
  const prefixes = filled(HAN.map((word) => word.slice(0, -1)).join("，"));
  const clean: Readonly<Record<string, () => unknown>> = {
    ...Object.fromEntries(
      Object.entries(texts).map(([name, text]) => {
        const whole = filled(text);
        return [name, () => mixed(whole)];
      }),
    ),
    [OF_CHINESE]: () => han(prefixes),
  };
  const hostile = filled(WORDS.slice(RULES / 2).join(" "));
  const count = scaled(READINGS);
  const all = {
    ...Object.fromEntries(
      Object.entries(clean).map(([name, read]) => [name, async () => timed(read, count)]),
    ),
    hostile: async () => {
      const before = threadCpuMs();
      for (let i = 0; i < HOSTILE; i++) await mixed(hostile);
      return (threadCpuMs() - before) / HOSTILE;
    },
  };
  for (const read of Object.values(clean)) timed(read, count);
  const found: Readonly<Record<string, number[]>> = await interleave(rounds, all);
  return [
    ...Object.keys(clean).map((name) =>
      measurement({
        ...{ name: `moderation by rules, ${name}`, unit: "µs", values: found[name] ?? [] },
        // The table for Chinese is larger than what a processor keeps at hand, and this text goes all over it.
        target: name === OF_CHINESE ? undefined : TARGET,
        note: `processor time; ${RULES} rules, ${LENGTH} characters, none of which breaks one`,
      }),
    ),
    measurement({
      ...{
        name: "moderation by rules, the literal of every pattern that fits",
        unit: "ms",
        values: found.hostile ?? [],
      },
      note: "processor time, in several turns of the event loop; each of these patterns is run, and none matches",
    }),
  ];
};

async function ready(rules: readonly Rule[]) {
  const { rules: read, problems } = await readRules(rules);
  if (read === undefined || problems.length > 0) throw new Error(JSON.stringify(problems));
  return read.broken;
}

/** @returns microseconds of processor time for each of so many */
function timed(work: () => unknown, count: number): number {
  const before = threadCpuMs();
  for (let i = 0; i < count; i++) if (work() !== undefined) throw new Error("A rule is broken.");
  return ((threadCpuMs() - before) * 1_000) / count;
}
