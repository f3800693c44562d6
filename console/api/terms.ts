import type { OperationName } from "./ask.ts";
import { type Document, readDocument, type Schema } from "./document.ts";

/*
 * Terms are what an operator sets for a key or an account. The service has one table of each and publishes them as the fields of its
 * requests, with their labels, limits and what null means. Forms are made of these, so a new term needs nothing here.
 */

export type TermKind =
  | "count"
  | "duration"
  | "time"
  | "amount"
  | "multiplier"
  | "choice"
  | "choices"
  | "list"
  | "checks"
  | "aliases"
  | "quota";

/** A term, and how it is written in a form. */
export interface Term {
  /** Its field in requests and answers. */
  readonly name: string;
  readonly kind: TermKind;
  readonly label: string;
  readonly description: string;
  /** What it means to leave it empty; absent where it always has a value. */
  readonly unset?: string | undefined;
  /** Of a choice, of choices, and when a quota begins anew. */
  readonly among: readonly string[];
}

/** A form's fields by their names. A quota has two: `quota` and `quota.reset`. */
export type TermTexts = Readonly<Record<string, string>>;

/** The terms that a request takes, in the service's order. @throws ApiProblem */
export async function readTerms(operation: OperationName): Promise<Term[]> {
  return termsOf(await readDocument(), operation);
}

/** What a term is, and what null means, as the service words them. */
const DESCRIPTION = /^(.*?)(?:; null: (.*?))?\.(?: Unix seconds\.)?$/s;

/** @param document as the service publishes it */
export function termsOf({ paths }: Document, operation: string): Term[] {
  const [method = "", path = ""] = operation.split(" ");
  const body = paths[path]?.[method.toLowerCase()]?.requestBody?.content["application/json"]?.schema;
  return Object.entries(body?.properties ?? {}).flatMap(([name, schema]) => {
    // Fields that are no terms have no label.
    if (schema.title === undefined) return [];
    const [, description = "", unset] = DESCRIPTION.exec(schema.description ?? "") ?? [];
    return [
      {
        ...{ name, label: schema.title, description, unset },
        ...{ kind: kindOf(name, schema), among: choicesOf(schema) },
      },
    ];
  });
}

function kindOf(name: string, schema: Schema): TermKind {
  const types = [schema.type ?? []].flat();
  if (schema.enum !== undefined) return "choice";
  if (schema.properties?.limit !== undefined) return "quota";
  if (types.includes("object")) return "aliases";
  if (types.includes("array"))
    return schema.items?.enum !== undefined ? "choices" : schema.minItems === 0 ? "checks" : "list";
  if (types.includes("integer"))
    return name.endsWith("_at") ? "time" : name.endsWith("_seconds") ? "duration" : "count";
  return schema.pattern?.startsWith("^-?") ? "amount" : "multiplier";
}

function choicesOf(schema: Schema): string[] {
  const values = schema.enum ?? schema.items?.enum ?? schema.properties?.reset?.enum ?? [];
  return values.filter((value): value is string => value !== null);
}

const UNITS = [
  ["d", 86_400],
  ["h", 3_600],
  ["m", 60],
  ["s", 1],
] as const;

/** What a form shows for the terms of a record. */
export function textsOf(terms: readonly Term[], record: object): TermTexts {
  const values = new Map<string, unknown>(Object.entries(record));
  return Object.fromEntries(
    terms.flatMap((term) => {
      const value = values.get(term.name);
      if (term.kind !== "quota") return [[term.name, textOf(term, value)]];
      const quota = (value ?? {}) as { readonly limit?: string; readonly reset?: string };
      return [
        [term.name, shortAmount(quota.limit ?? "")],
        [`${term.name}.reset`, quota.reset ?? "total"],
      ];
    }),
  );
}

function textOf({ kind }: Term, value: unknown): string {
  if (value === undefined || value === null) return "";
  if (kind === "amount") return shortAmount(String(value));
  if (kind === "time") return localTime(Number(value));
  if (kind === "duration") return spanText(Number(value));
  if (kind === "checks" && Array.isArray(value) && value.length === 0) return "none";
  if (Array.isArray(value)) return value.join(kind === "choices" ? "," : ", ");
  if (kind === "aliases")
    return Object.entries(value)
      .map(([alias, model]) => `${alias}=${model}`)
      .join("\n");
  return String(value);
}

/** `10.00` of `10.000000`: the places that say something, and at least two. */
function shortAmount(amount: string): string {
  return amount.replace(/(\.\d\d\d*?)0+$/, "$1");
}

/** `30d`, `90m`: the largest unit that leaves nothing over. */
export function spanText(seconds: number): string {
  const [unit, size] = UNITS.find(([, each]) => seconds % each === 0) ?? ["s", 1];
  return `${seconds / size}${unit}`;
}

/** For a field of a date and a time, in the reader's own zone. */
function localTime(seconds: number): string {
  const at = new Date(seconds * 1_000);
  const local = new Date(at.getTime() - at.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}

/** What a request says of the terms that are others than before, and what cannot be read, by the field's name. */
export interface ReadTerms {
  readonly body: Readonly<Record<string, unknown>>;
  readonly problems: Readonly<Record<string, string>>;
}

export function changedTerms(terms: readonly Term[], before: TermTexts, now: TermTexts): ReadTerms {
  const body: Record<string, unknown> = {};
  const problems: Record<string, string> = {};
  for (const term of terms) {
    const names = term.kind === "quota" ? [term.name, `${term.name}.reset`] : [term.name];
    if (names.every((name) => (before[name] ?? "") === (now[name] ?? ""))) continue;
    const read = readTerm(term, now);
    if (read.problem === undefined) body[term.name] = read.value;
    else problems[term.name] = read.problem;
  }
  return { body, problems };
}

type Read = { readonly value: unknown; readonly problem?: undefined } | { readonly problem: string };

function readTerm(term: Term, texts: TermTexts): Read {
  const text = (texts[term.name] ?? "").trim();
  if (text === "") return term.unset === undefined ? { problem: "This cannot be empty." } : { value: null };
  switch (term.kind) {
    case "count":
      return /^\d{1,15}$/.test(text) ? { value: Number(text) } : { problem: "Type a whole number." };
    case "duration":
      return span(text);
    case "time": {
      const at = Date.parse(text);
      return Number.isNaN(at) ? { problem: "Choose a date and a time." } : { value: Math.floor(at / 1_000) };
    }
    case "aliases":
      return aliases(text);
    case "checks":
      return { value: text === "none" ? [] : listOf(text) };
    case "choices":
    case "list":
      return { value: listOf(text) };
    case "quota":
      return { value: { limit: text, reset: texts[`${term.name}.reset`] || "total" } };
    default:
      return { value: text };
  }
}

function listOf(text: string): string[] {
  return text
    .split(/[\s,]+/)
    .map((each) => each.trim())
    .filter((each) => each !== "");
}

function span(text: string): Read {
  const [, digits = "", unit = "s"] = /^(\d{1,10})\s*([dhms])?$/.exec(text) ?? [];
  const size = UNITS.find(([name]) => name === unit)?.[1] ?? 1;
  if (digits === "") return { problem: "Type a time such as 30d, 12h, 90m or 45s." };
  return { value: Number(digits) * size };
}

function aliases(text: string): Read {
  const pairs = text
    .split(/[\n,]+/)
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .map((line) => line.split("=").map((part) => part.trim()));
  const wrong = pairs.find(([alias = "", model = "", ...more]) => !alias || !model || more.length > 0);
  if (wrong !== undefined) return { problem: `"${wrong.join("=")}" is not like name=model.` };
  return { value: Object.fromEntries(pairs) };
}
