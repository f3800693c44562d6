import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Command } from "commander";
import { AppError } from "../../src/domain/errors.ts";
import type { JsonObject } from "../../src/domain/json.ts";
import { formatAmount } from "../../src/domain/money/money.ts";
import { PRICE_UNITS, type PriceUnit, unitFacts } from "../../src/domain/money/price-units.ts";
import { reasonOf } from "../../src/toolkit/system-error.ts";
import { readYaml, YamlError } from "../../src/toolkit/yaml.ts";
import type { Context } from "../context.ts";
import { Failure, usage } from "../failure.ts";
import { type FlagValues, flagText, nameOf, readAmount, readCount, unreadable } from "./values.ts";

const MINIMUM = { flag: "--minimum <amount>", help: "lowest price of a task that delivers anything" };
const RULE = {
  flag: "--rule <file>",
  help: "the whole rule, YAML or JSON as in a manifest; - is standard input",
};

/** Adds the flags of each unit, and those of the rule as a whole. */
export function withRuleFlags(command: Command): Command {
  const units = PRICE_UNITS.flatMap((unit) => {
    const { price, most } = unitFacts(unit);
    return most === undefined ? [price] : [price, most];
  });
  for (const { flag, help } of [...units, MINIMUM, RULE]) command.option(flag, help);
  return command;
}

/** A rule and its origin: the units whose flags made its lines, in order, or a file. */
interface Written {
  readonly rule: unknown;
  readonly units: readonly PriceUnit[];
  readonly file?: string | undefined;
}

/** @throws Failure (exit 2) naming the flag at fault */
export async function readRule(
  model: string,
  flags: FlagValues,
  context: Pick<Context, "cwd" | "stdin">,
): Promise<Written> {
  const units = PRICE_UNITS.filter((unit) => flagText(unitFacts(unit).price, flags) !== undefined);
  for (const unit of PRICE_UNITS) {
    const { price, most } = unitFacts(unit);
    if (most !== undefined && flagText(most, flags) !== undefined && !units.includes(unit))
      throw usage(`${nameOf(most)} belongs to ${nameOf(price)}, which is not given.`);
  }
  const file = flagText(RULE, flags);
  const minimum = flagText(MINIMUM, flags);
  if (file !== undefined) {
    if (units.length > 0 || minimum !== undefined)
      throw usage("--rule is the whole rule: it goes with no other flag of the price.");
    return { rule: await readRuleFile(file, context), units: [], file };
  }
  if (units.length === 0) {
    throw usage("There is no price: give --per-output, --per-second, another of that kind, or --rule.");
  }
  const lines = units.map((unit) => readLine(unit, units.length === 1 ? model : `${model}-${unit}`, flags));
  const rule = minimum === undefined ? { lines } : { lines, minimum: readPrice(nameOf(MINIMUM), minimum) };
  return { rule, units };
}

function readLine(unit: PriceUnit, sku: string, flags: FlagValues): JsonObject {
  const { price, most, per } = unitFacts(unit);
  const mostText = most && flagText(most, flags);
  return {
    sku: sku.replaceAll("_", "-"),
    unit,
    amount: readPrice(nameOf(price), flagText(price, flags) ?? ""),
    ...(per === undefined ? {} : { per }),
    ...(most === undefined || mostText === undefined ? {} : { most: readCount(nameOf(most), mostText, 15) }),
  };
}

function readPrice(flag: string, text: string): string {
  const amount = readAmount(flag, text);
  if (amount >= 0) return formatAmount(amount);
  throw unreadable(flag, "an amount from 0", text);
}

async function readRuleFile(path: string, { cwd, stdin }: Pick<Context, "cwd" | "stdin">): Promise<unknown> {
  try {
    const text = path === "-" ? await stdin.readText() : await readFile(resolve(cwd, path), "utf8");
    return readYaml(text).value;
  } catch (error) {
    if (!(error instanceof YamlError)) throw usage(`--rule ${path} cannot be read: ${reasonOf(error)}.`);
    const { line, column } = error.position;
    throw usage(`--rule ${path}:${line}:${column}: ${reasonOf(error)}.`);
  }
}

/** Waits for a call that takes a rule. A refusal of it names the flag or the file at fault and ends with exit code 2. */
export async function namingRule<T>(done: Promise<T>, written: Written): Promise<T> {
  try {
    return await done;
  } catch (error) {
    if (error instanceof Failure) throw error.ofField((field) => originOf(ownFieldOf(field), written));
    if (!(error instanceof AppError) || error.param === undefined) throw error;
    throw usage(error.renamed((field) => originOf(field, written)).message);
  }
}

/** In a body of the management API, the rule is the field `price`. */
function ownFieldOf(field: string): string {
  return field === "price" ? "" : field.replace(/^price\./, "");
}

/** The flag that gave a field of a price change, or the field's place in the file. */
function originOf(field: string, { units, file }: Written): string {
  if (field === "reason") return "--reason";
  if (file !== undefined) return `${file}: ${field === "" ? "the rule" : field}`;
  if (field === "minimum") return nameOf(MINIMUM);
  const [, index, isMost] = /^lines\[(\d+)\](\.most)?/.exec(field) ?? [];
  const unit = units[Number(index)];
  if (unit === undefined) return field;
  const { price, most = price } = unitFacts(unit);
  return nameOf(isMost === undefined ? price : most);
}
