import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Command } from "commander";
import { AppError } from "../../src/domain/errors.ts";
import type { JsonObject } from "../../src/domain/json.ts";
import type { PriceUnit } from "../../src/domain/model/model.ts";
import { CURRENCY, formatAmount } from "../../src/domain/money/money.ts";
import { usage } from "../failure.ts";
import { readAmount } from "./amounts.ts";

/** A price rule as flags give it: by its lines, or in a file. */
export interface RuleFlags {
  readonly perOutput?: string;
  readonly perSecond?: string;
  readonly mostSeconds?: string;
  readonly perMegapixel?: string;
  readonly mostMegapixels?: string;
  readonly perMillionInputTokens?: string;
  readonly mostInputTokens?: string;
  readonly perMillionOutputTokens?: string;
  readonly mostOutputTokens?: string;
  readonly minimum?: string;
  readonly rule?: string;
}

interface LineFlag {
  readonly unit: PriceUnit;
  readonly name: keyof RuleFlags;
  readonly flag: string;
  readonly most?: { readonly name: keyof RuleFlags; readonly flag: string };
  readonly per?: number;
}

const MILLION = 1_000_000;

/** The lines that flags can make, in the order of the rule. */
const LINES: readonly LineFlag[] = [
  { unit: "output", name: "perOutput", flag: "--per-output" },
  {
    unit: "second",
    name: "perSecond",
    flag: "--per-second",
    most: { name: "mostSeconds", flag: "--most-seconds" },
  },
  {
    unit: "megapixel",
    name: "perMegapixel",
    flag: "--per-megapixel",
    most: { name: "mostMegapixels", flag: "--most-megapixels" },
  },
  {
    unit: "input_token",
    name: "perMillionInputTokens",
    flag: "--per-million-input-tokens",
    most: { name: "mostInputTokens", flag: "--most-input-tokens" },
    per: MILLION,
  },
  {
    unit: "output_token",
    name: "perMillionOutputTokens",
    flag: "--per-million-output-tokens",
    most: { name: "mostOutputTokens", flag: "--most-output-tokens" },
    per: MILLION,
  },
];

export function withRuleFlags(command: Command): Command {
  return command
    .option("--per-output <amount>", `${CURRENCY} for each image or video, such as 0.010000`)
    .option("--per-second <amount>", "for each second of a video")
    .option("--most-seconds <count>", "seconds held for where a request does not tell")
    .option("--per-megapixel <amount>", "for each 1024 × 1024 pixels begun of an image")
    .option("--most-megapixels <count>", "megapixels held for where a request does not tell")
    .option("--per-million-input-tokens <amount>", "for a million tokens that go in")
    .option("--most-input-tokens <count>", "tokens held for each request")
    .option("--per-million-output-tokens <amount>", "for a million tokens that come out")
    .option("--most-output-tokens <count>", "tokens held for each output")
    .option("--minimum <amount>", "the least a task costs that delivers anything")
    .option("--rule <file>", "the whole rule, YAML or JSON as in a manifest; - is standard input");
}

/** A rule, and the flags that made its lines, in their order, or the file it is from. */
interface Written {
  readonly rule: unknown;
  readonly flags: readonly LineFlag[];
  readonly file?: string | undefined;
}

/** @throws Failure (exit 2) naming the flag at fault */
export async function readRule(model: string, flags: RuleFlags, cwd: string): Promise<Written> {
  const given = LINES.filter(({ name }) => flags[name] !== undefined);
  const orphan = LINES.find(
    ({ name, most }) => most && flags[most.name] !== undefined && flags[name] === undefined,
  );
  if (orphan !== undefined)
    throw usage(`${orphan.most?.flag} belongs to ${orphan.flag}, which is not given.`);
  if (flags.rule !== undefined) {
    if (given.length > 0 || flags.minimum !== undefined)
      throw usage("--rule is the whole rule: it goes with no other flag of the price.");
    return { rule: await readRuleFile(flags.rule, cwd), flags: [], file: flags.rule };
  }
  if (given.length === 0) {
    throw usage("There is no price: give --per-output, --per-second, another of that kind, or --rule.");
  }
  const minimum = flags.minimum && readPrice("--minimum", flags.minimum);
  const lines = given.map((line) =>
    readLine(line, given.length === 1 ? model : `${model}-${line.unit}`, flags),
  );
  return {
    rule: { lines, ...(minimum === undefined ? {} : { minimum }) },
    flags: given,
  };
}

function readLine({ unit, name, flag, most, per }: LineFlag, sku: string, flags: RuleFlags): JsonObject {
  const amount = readPrice(flag, flags[name] ?? "");
  const mostText = most && flags[most.name];
  return {
    sku: sku.replaceAll("_", "-"),
    unit,
    amount,
    ...(per === undefined ? {} : { per }),
    ...(most === undefined || mostText === undefined ? {} : { most: readCount(most.flag, mostText) }),
  };
}

function readPrice(flag: string, text: string): string {
  const amount = readAmount(flag, text);
  if (amount >= 0) return formatAmount(amount);
  throw usage(`${flag} must be an amount from 0, got ${JSON.stringify(text.slice(0, 80))}.`);
}

function readCount(flag: string, text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw usage(`${flag} must be a whole number from 1, got ${JSON.stringify(text.slice(0, 80))}.`);
}

async function readRuleFile(path: string, cwd: string): Promise<unknown> {
  try {
    const text = path === "-" ? await Bun.stdin.text() : await readFile(resolve(cwd, path), "utf8");
    return Bun.YAML.parse(text);
  } catch (error) {
    throw usage(`--rule ${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Waits for a call that takes a rule. A refusal of it names the flag or the file at fault and ends with exit code 2. */
export async function namingRule<T>(done: Promise<T>, written: Written): Promise<T> {
  try {
    return await done;
  } catch (error) {
    if (!(error instanceof AppError) || error.param === undefined) throw error;
    throw usage(error.renamed((field) => nameOf(field, written)).message);
  }
}

/** The flag that gave a field of a price change, or the field's place in the file. */
function nameOf(field: string, { flags, file }: Written): string {
  if (field === "reason") return "--reason";
  if (file !== undefined) return `${file}: ${field === "" ? "the rule" : field}`;
  if (field === "minimum") return "--minimum";
  const [, index, isMost] = /^lines\[(\d+)\](\.most)?/.exec(field) ?? [];
  const line = flags[Number(index)];
  return (isMost === undefined ? line?.flag : line?.most?.flag) ?? field;
}
