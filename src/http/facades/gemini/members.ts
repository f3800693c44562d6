import { mustBe } from "../../../domain/errors.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../domain/json.ts";

/* Reading of objects as that API reads them: each member has a name in camelCase and one in snake_case, and null is absent. */

/** A value, and where the caller put it. */
export interface Member {
  readonly value: Json;
  readonly path: string;
}

export const snakeOf = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
export const camelOf = (name: string) =>
  name.includes("_") ? name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()) : name;

/** The snake_case names of the requested members, of which there are few: every create reads about twenty. */
const SNAKES = new Map<string, string>();

export const within = (at: string, name: string) => (at === "" ? name : `${at}.${name}`);

/** The member of this name, in either case. @param at path of the object */
export function memberOf(object: JsonObject, name: string, at = ""): Member | undefined {
  const value = object[name];
  if (value !== undefined && value !== null) return { value, path: within(at, name) };
  const snake = SNAKES.getOrInsertComputed(name, snakeOf);
  const other = snake === name ? undefined : object[snake];
  return other === undefined || other === null ? undefined : { value: other, path: within(at, snake) };
}

/** The same, which must be an object. @throws AppError naming it */
export function objectOf(
  object: JsonObject,
  name: string,
  at = "",
): { value: JsonObject; path: string } | undefined {
  const member = memberOf(object, name, at);
  return member && asObject(member);
}

export function asObject({ value, path }: Member): { value: JsonObject; path: string } {
  if (!isJsonObject(value)) throw mustBe(path, { types: ["object"] }, { json: value });
  return { value, path };
}

/** The same, whose entries are given with their paths; one that is no list stands for a list of one. */
export function listOf(object: JsonObject, name: string, at = ""): Member[] {
  const member = memberOf(object, name, at);
  if (member === undefined) return [];
  const { value, path } = member;
  if (!Array.isArray(value)) return [member];
  return value.map((entry, i) => ({ value: entry, path: `${path}[${i}]` }));
}

/** The same, which must be text. @throws AppError naming it */
export function textOf(
  object: JsonObject,
  name: string,
  at = "",
): { value: string; path: string } | undefined {
  const member = memberOf(object, name, at);
  if (member === undefined) return undefined;
  const { value, path } = member;
  if (typeof value !== "string") throw mustBe(path, { form: "text" }, { json: value });
  return { value, path };
}
