import { canonicalJson } from "../domain/canonical-json.ts";
import { isJsonObject, type Json, type JsonObject } from "../domain/json.ts";
import {
  type Model,
  PRICE_UNITS,
  type PriceLine,
  type PriceRule,
  type PriceUnit,
} from "../domain/model/model.ts";
import { formatAmount, type Micros, parseAmount, toMicros } from "../domain/money/money.ts";
import { MINIMUM_SKU } from "../domain/money/pricing.ts";
import {
  ManifestError,
  type Place,
  readChoice,
  readCount,
  readEntries,
  readList,
  readMembers,
  readText,
} from "./reading.ts";
import { hasProperty } from "./schema.ts";

/** The most one output may come to by one line: far from where sums leave the whole numbers that can be counted. */
const MOST_MICROS = toMicros(100_000_000_000);
/** Seconds, or megapixels, that an output is taken to have at the most where the request tells. */
const MOST_UNITS_TOLD = 1_000;
const LONGEST_TEXT = 200;
const VERSION_LENGTH = 12;

/**
 * Reads a price rule: `lines`, the least a task costs as `minimum`, and `version`, which follows from the rest where it is not
 * given.
 *
 * @param model whose requests it prices; what it depends on must be a parameter of theirs
 * @throws ManifestError naming the field at fault
 */
export function readPrice(place: Place, model: PricedModel): PriceRule {
  const at = readMembers(place, ["lines", "version?", "minimum?"]);
  const lines = readList(at("lines"), 1).map((line) => readPriceLine(line, model));
  const twice = lines.find((line, i) => lines.findIndex(({ sku }) => sku === line.sku) !== i);
  if (twice !== undefined) throw new ManifestError(at("lines"), `has two lines with the sku "${twice.sku}"`);
  const minimum = at("minimum");
  const content = minimum.value === undefined ? { lines } : { lines, minimumMicros: readAmount(minimum) };
  const version = at("version").value === undefined ? versionOf(content) : readShortText(at("version"));
  return { version, ...content };
}

/** The version of prices that have none of their own: equal prices have equal ones, however they are written. */
export function versionOf({ lines, minimumMicros }: Omit<PriceRule, "version">): string {
  // A price rule is JSON all the way down.
  const text = canonicalJson({ lines, minimumMicros } as unknown as JsonObject);
  return Bun.SHA256.hash(text, "hex").slice(0, VERSION_LENGTH);
}

type PricedModel = Pick<Model, "schema" | "mediaFields">;

function readPriceLine(place: Place, model: PricedModel): PriceLine {
  const at = readMembers(place, ["sku", "unit", "amount", "per?", "most?", "when?"]);
  const sku = readShortText(at("sku"));
  if (sku === MINIMUM_SKU) {
    throw new ManifestError(
      at("sku"),
      `must not be "${MINIMUM_SKU}", which is what makes up for the minimum`,
    );
  }
  const unit = readChoice(at("unit"), PRICE_UNITS);
  const optional = (name: "per" | "most") => (at(name).value === undefined ? undefined : readCount(at(name)));
  const [per, most] = [optional("per"), optional("most")];
  checkMost(place, unit, most, model);
  const unitMicros = readAmount(at("amount"));
  const dearest = (unitMicros * (most ?? (unit === "output" ? 1 : MOST_UNITS_TOLD))) / (per ?? 1);
  if (dearest > MOST_MICROS) {
    const limit = `${formatAmount(MOST_MICROS)}`;
    throw new ManifestError(at("amount"), `can come to more than ${limit} for one output, the most there is`);
  }
  return {
    sku,
    unit,
    unitMicros,
    ...(per === undefined ? {} : { per }),
    ...(most === undefined ? {} : { most }),
    ...(at("when").value === undefined ? {} : { when: readWhen(at("when"), model) }),
  };
}

/** What tells how many units a request asks for, where the line does not. */
const TOLD_BY: Readonly<Record<Exclude<PriceUnit, "output">, string | undefined>> = {
  second: "duration",
  megapixel: "size",
  input_token: undefined,
  output_token: undefined,
};

function checkMost(line: Place, unit: PriceUnit, most: number | undefined, { schema }: PricedModel): void {
  const at = (name: string) => ({ file: line.file, path: line.path === "" ? name : `${line.path}.${name}` });
  if (unit === "output") {
    if (most === undefined) return;
    throw new ManifestError(
      at("most"),
      "is for units whose number a request need not tell; an output is one",
    );
  }
  if (most !== undefined) return;
  const name = TOLD_BY[unit];
  if (name === undefined) {
    throw new ManifestError(at("unit"), 'needs "most": how many tokens it can be at the most');
  }
  if (!hasProperty(schema, name)) {
    throw new ManifestError(at("unit"), `needs the property "${name}" in the schema, or "most"`);
  }
}

function readAmount(place: Place): Micros {
  const amount = typeof place.value === "string" ? parseAmount(place.value) : undefined;
  if (amount !== undefined && amount >= 0) return amount;
  throw new ManifestError(place, 'must be an amount in quotes with at most six places, such as "0.010000"');
}

function readShortText(place: Place): string {
  const text = readText(place);
  if (text.length <= LONGEST_TEXT && !/\p{Cc}|\p{Cs}/u.test(text)) return text;
  throw new ManifestError(place, `must have at most ${LONGEST_TEXT} characters and no control characters`);
}

/** Properties of create bodies that are no parameters: what they say has a place of its own, or prices nothing. */
const NO_PARAMETERS = ["model", "prompt", "n", "callback_url", "task_id", "index"];

function readWhen(place: Place, { schema, mediaFields }: PricedModel): PriceLine["when"] {
  const conditions: Record<string, Json> = {};
  for (const [name, condition] of readEntries(place)) {
    const property = isJsonObject(schema.properties) ? schema.properties[name] : undefined;
    if (!isJsonObject(property)) throw new ManifestError(condition, "is no property of the schema");
    if (NO_PARAMETERS.includes(name) || mediaFields.some((field) => field.name === name))
      throw new ManifestError(condition, "is nothing that a price can depend on");
    const isList = Array.isArray(condition.value);
    conditions[name] = isList
      ? readList(condition, 1).map((each) => readScalar(each, property))
      : readScalar(condition, property);
  }
  return conditions;
}

function readScalar(place: Place, { enum: choices }: JsonObject): string | number | boolean {
  const { value } = place;
  if (typeof value !== "string" && typeof value !== "number" && typeof value !== "boolean")
    throw new ManifestError(place, "must be a text, a number or a boolean");
  if (!Array.isArray(choices) || choices.includes(value)) return value;
  throw new ManifestError(place, `must be one of ${choices.map((each) => JSON.stringify(each)).join(", ")}`);
}
