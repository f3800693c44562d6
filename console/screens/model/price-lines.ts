import type { Document } from "../../api/document.ts";
import { countText } from "../../parts/count.ts";
import { moneyText } from "../../parts/money.tsx";
import type { Rule } from "../playground/schema.ts";
import type { PriceLine } from "./read.ts";

/** A line of a price as a form has it. */
export type LineTexts = Readonly<Record<"sku" | "unit" | "amount" | "per" | "most" | "when", string>>;
type Fields = Readonly<Record<string, Rule>>;
type When = Readonly<Record<string, unknown>>;

/** A name of what a line sells that no line has yet: no two may have one. */
export function freeSku(model: string, lines: readonly LineTexts[]): string {
  const taken = new Set(lines.map(({ sku }) => sku.trim()));
  for (let number = 1; ; number++) {
    const sku = number === 1 ? model : `${model}-${number}`;
    if (!taken.has(sku)) return sku;
  }
}

export const EMPTY_LINE: LineTexts = { sku: "", unit: "output", amount: "", per: "", most: "", when: "" };

/** What a form shows for the lines of a price. @param fields of the model's requests, by name */
export function textsOf(lines: readonly PriceLine[], fields: Fields): LineTexts[] {
  return lines.map(({ sku, unit, amount, per, most, when }) => ({
    ...{ sku, unit, amount: shortAmount(amount) },
    ...{ per: String(per ?? ""), most: String(most ?? ""), when: whenText(when ?? {}, fields) },
  }));
}

/** `0.01` of `0.010000`: at least two places. */
export function shortAmount(amount: string): string {
  return amount.replace(/(\.\d\d\d*?)0+$/, "$1");
}

/** What a request says of a price, and what of it cannot be read, by the names that the service has for the fields. */
interface ReadPrice {
  readonly price: Readonly<Record<string, unknown>>;
  readonly problems: Readonly<Record<string, string>>;
}

export function priceFrom(lines: readonly LineTexts[], minimum: string, fields: Fields): ReadPrice {
  const problems: Record<string, string> = {};
  const count = (text: string, at: string) => {
    if (!/^\d{1,15}$/.test(text)) problems[at] = "Type a whole number.";
    return Number(text);
  };
  const read = lines.map((line, i) => {
    const at = `price.lines[${i}]`;
    const texts = { per: line.per.trim(), most: line.most.trim(), when: line.when.trim() };
    const when = texts.when === "" ? undefined : whenFrom(texts.when, fields);
    if (typeof when === "string") problems[`${at}.when`] = when;
    return {
      ...{ sku: line.sku.trim(), unit: line.unit, amount: line.amount.trim() },
      ...(texts.per === "" ? {} : { per: count(texts.per, `${at}.per`) }),
      ...(texts.most === "" ? {} : { most: count(texts.most, `${at}.most`) }),
      ...(typeof when === "object" ? { when } : {}),
    };
  });
  const least = minimum.trim() === "" ? {} : { minimum: minimum.trim() };
  return { price: { lines: read, ...least }, problems };
}

/** Conditions as `name = value, value`, a line each; as JSON where that would not say the same. */
export function whenText(when: When, fields: Fields): string {
  const text = Object.entries(when)
    .map(([name, value]) => `${name} = ${[value].flat().map(String).join(", ")}`)
    .join("\n");
  const again = text === "" ? {} : whenFrom(text, fields);
  return JSON.stringify(again) === JSON.stringify(when) ? text : JSON.stringify(when);
}

/** @returns what is wrong where it is none */
function whenFrom(text: string, fields: Fields): When | string {
  if (text.startsWith("{")) {
    try {
      return JSON.parse(text) as When;
    } catch {
      return "This is no JSON. Write name = value, one condition a line.";
    }
  }
  const entries: [string, unknown][] = [];
  for (const line of text.split("\n").filter((each) => each.trim() !== "")) {
    const at = line.indexOf("=");
    const name = line.slice(0, at).trim();
    const values = line
      .slice(at + 1)
      .split(",")
      .map((each) => each.trim())
      .filter((each) => each !== "");
    if (at < 1 || name === "" || values.length === 0) return `"${line.trim()}" is not like name = value.`;
    const read = values.map((each) => typedAs(each, fields[name]));
    entries.push([name, read.length === 1 ? read[0] : read]);
  }
  return Object.fromEntries(entries);
}

/** A text as the field has its values: a number, true or false, or as it is. */
function typedAs(text: string, rule: Rule | undefined): unknown {
  const known = rule?.enum?.find((each) => String(each) === text);
  if (known !== undefined) return known;
  const types = [rule?.type ?? []].flat();
  if ((types.includes("integer") || types.includes("number")) && Number.isFinite(Number(text)))
    return Number(text);
  if (types.includes("boolean") && (text === "true" || text === "false")) return text === "true";
  return text;
}

/** `$0.01 / output`, `$5.00 / 1,000,000 input tokens`. */
export function lineText({ unit, amount, per }: Pick<PriceLine, "unit" | "amount" | "per">): string {
  const noun = unit.replaceAll("_", " ");
  return `${moneyText(amount)} / ${per === undefined ? noun : `${countText(per)} ${noun}s`}`;
}

/** `resolution is 1080p or 4k; mode is text-to-image`. Empty: always. */
export function conditionText(when: When | undefined): string {
  return Object.entries(when ?? {})
    .map(([name, value]) => `${name} is ${[value].flat().map(String).join(" or ")}`)
    .join("; ");
}

/** What prices are counted in, in the order that the service publishes. */
export function unitsIn({ components }: Document): readonly string[] {
  const { lines } = components?.schemas.PriceRule?.properties ?? {};
  return lines?.items?.properties?.unit?.["x-extensible-enum"] ?? [];
}

/** Whether the form has a field that is named so. */
export function hasField(param: string): boolean {
  return /^(?:reason|price\.minimum|price\.lines\[\d+\]\.(?:sku|unit|amount|per|most|when)\b.*)$/.test(param);
}
