import { isJsonObject, type JsonObject } from "../../src/domain/json.ts";
import { type Micros, type MicrosSum, parseSum, readAmount } from "../../src/domain/money/money.ts";
import { parseMultiplier } from "../../src/domain/money/multiplier.ts";
import { type Failure, unexpectedAnswer } from "../failure.ts";

/* Reads the fields of an answer of the management API. A field that is not as the API promises ends the command. */

const unlike = (name: string, what: string): Failure =>
  unexpectedAnswer(`The server's answer is none of svc's: "${name}" is not ${what}.`);

export function textIn(form: JsonObject, name: string): string {
  const value = form[name];
  if (typeof value === "string") return value;
  throw unlike(name, "text");
}

/** @returns undefined for null, and for a field that is not there */
export function optionalTextIn(form: JsonObject, name: string): string | undefined {
  return form[name] == null ? undefined : textIn(form, name);
}

export function countIn(form: JsonObject, name: string): number {
  const value = form[name];
  if (typeof value === "number" && Number.isSafeInteger(value)) return value;
  throw unlike(name, "a whole number");
}

export function numberIn(form: JsonObject, name: string): number {
  const value = form[name];
  if (typeof value === "number") return value;
  throw unlike(name, "a number");
}

export function flagIn(form: JsonObject, name: string): boolean {
  const value = form[name];
  if (typeof value === "boolean") return value;
  throw unlike(name, "true or false");
}

/** Unix seconds as epoch milliseconds. */
export function timeIn(form: JsonObject, name: string): number {
  return countIn(form, name) * 1000;
}

export function optionalTimeIn(form: JsonObject, name: string): number | undefined {
  return form[name] == null ? undefined : timeIn(form, name);
}

export function amountIn(form: JsonObject, name: string): Micros {
  const amount = readAmount(textIn(form, name));
  if (amount !== undefined) return amount;
  throw unlike(name, "an amount");
}

export function optionalAmountIn(form: JsonObject, name: string): Micros | undefined {
  return form[name] == null ? undefined : amountIn(form, name);
}

/** A sum of many amounts. */
export function sumIn(form: JsonObject, name: string): MicrosSum {
  const sum = parseSum(textIn(form, name));
  if (sum !== undefined) return sum;
  throw unlike(name, "an amount");
}

export function optionalSumIn(form: JsonObject, name: string): MicrosSum | undefined {
  return form[name] == null ? undefined : sumIn(form, name);
}

/** Millionths. */
export function multiplierIn(form: JsonObject, name: string): number {
  const multiplier = parseMultiplier(textIn(form, name));
  if (multiplier !== undefined) return multiplier;
  throw unlike(name, "a multiplier");
}

export function wordIn<Word extends string>(form: JsonObject, name: string, among: readonly Word[]): Word {
  const text = textIn(form, name);
  const word = among.find((each) => each === text);
  if (word !== undefined) return word;
  throw unlike(name, among.join(" or "));
}

export function objectIn(form: JsonObject, name: string): JsonObject {
  const value = form[name];
  if (isJsonObject(value)) return value;
  throw unlike(name, "an object");
}

export function optionalObjectIn(form: JsonObject, name: string): JsonObject | undefined {
  return form[name] == null ? undefined : objectIn(form, name);
}

export function objectsIn(form: JsonObject, name: string): readonly JsonObject[] {
  const value = form[name];
  if (Array.isArray(value) && value.every(isJsonObject)) return value;
  throw unlike(name, "a list of objects");
}

export function textsIn(form: JsonObject, name: string): readonly string[] {
  const value = form[name];
  if (Array.isArray(value) && value.every((each) => typeof each === "string")) return value;
  throw unlike(name, "a list of texts");
}
