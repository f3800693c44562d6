import { isJsonObject, type JsonObject } from "../domain/json.ts";

/** A row of a table, or an object of a file. */
export type Row = { readonly [column: string]: unknown };

export function textOf(value: unknown): string | undefined {
  if (typeof value === "string" && value !== "") return value;
  if (typeof value === "number" || typeof value === "bigint") return String(value);
  return undefined;
}

/** A whole number, which databases give as number, text or bigint. */
export function integerOf(value: unknown): number | undefined {
  if (value === null || value === undefined || value === "") return undefined;
  const number = typeof value === "number" ? value : Number(value);
  return Number.isSafeInteger(number) ? number : undefined;
}

/** Databases without truth values have 0 and 1. */
function isTrue(value: unknown): boolean {
  return value === true || value === 1 || value === 1n || value === "1" || value === "true" || value === "t";
}

/** A column has a value of a different kind than in every known version, so nobody can say what it allows. */
export class UnreadableValue extends Error {
  override readonly name = "UnreadableValue";

  constructor(
    readonly column: string,
    kind: string,
  ) {
    super(`its ${column} is no ${kind} that can be read`);
  }
}

const isAbsent = (value: unknown) => value === null || value === undefined || value === "";
const FALSE = [false, 0, 0n, "0", "false", "f"];

/*
 * Values that limit a key are read strictly. If one could not be read, the key would be imported without it, with more rights than
 * it had. Each of these functions then throws an UnreadableValue.
 */

export function flagIn(row: Row, column: string): boolean {
  const value = row[column];
  if (isTrue(value)) return true;
  if (isAbsent(value) || FALSE.some((each) => each === value)) return false;
  throw new UnreadableValue(column, "truth value");
}

/** A whole number; undefined where there is none. */
export function countIn(row: Row, column: string): number | undefined {
  const count = integerOf(row[column]);
  if (count === undefined && !isAbsent(row[column])) throw new UnreadableValue(column, "whole number");
  return count;
}

/** Epoch milliseconds of a date; undefined where there is none. */
export function timeIn(row: Row, column: string): number | undefined {
  const at = timeOf(row[column]);
  if (at === undefined && !isAbsent(row[column])) throw new UnreadableValue(column, "time");
  return at;
}

export function textsIn(row: Row, column: string): readonly string[] {
  const value = row[column];
  const parsed = typeof value === "string" ? (parsedJson(value) ?? value) : value;
  const isList = Array.isArray(parsed) && parsed.every((each) => typeof each === "string");
  if (!isAbsent(value) && !isList && typeof parsed !== "string")
    throw new UnreadableValue(column, "list of texts");
  return textsOf(value);
}

/** A list of anything: as one, or as JSON. */
export function listIn(row: Row, column: string): readonly unknown[] {
  const value = row[column];
  const parsed = typeof value === "string" ? parsedJson(value) : value;
  if (Array.isArray(parsed)) return parsed;
  const isEmpty =
    isAbsent(value) || parsed === null || (isJsonObject(parsed) && Object.keys(parsed).length === 0);
  if (isEmpty) return [];
  throw new UnreadableValue(column, "list");
}

/** A list of texts: as one, as JSON, or as PostgreSQL writes arrays. */
export function textsOf(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.filter((each): each is string => typeof each === "string");
  if (typeof value !== "string" || value === "") return [];
  const parsed = parsedJson(value);
  return Array.isArray(parsed) ? textsOf(parsed) : splitList(value.replace(/^\{(.*)\}$/s, "$1"));
}

/** The entries of a list with commas or line breaks between them. */
export function splitList(text: string): readonly string[] {
  return text
    .split(/[,\n]/)
    .map((each) => each.trim().replace(/^"(.*)"$/, "$1"))
    .filter((each) => each !== "");
}

/** An object: as one, or as JSON. */
export function objectOf(value: unknown): JsonObject {
  const parsed = typeof value === "string" ? parsedJson(value) : value;
  return isJsonObject(parsed) ? parsed : {};
}

/** Epoch milliseconds of a time: a date, or a text of one, which is UTC where it does not say. */
function timeOf(value: unknown): number | undefined {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? undefined : value.getTime();
  if (typeof value !== "string" || value === "") return undefined;
  const hasZone = /(?:[zZ]|[+-]\d\d:?\d\d)$/.test(value);
  const at = Date.parse(hasZone ? value : `${value.replace(" ", "T")}Z`);
  return Number.isNaN(at) ? undefined : at;
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // It is no JSON, which is told where it has to be.
    return undefined;
  }
}
