import type { Json } from "../../src/domain/json.ts";
import { usage } from "../failure.ts";
import { printable, printableJson } from "./printable.ts";

const MAX_SHOWN = 4_000;

/**
 * Prints what is at a path of a command's JSON: `task_id`, `tasks.0.model`, or `tasks.*.task_id` for each. Text is printed as it is,
 * everything else as JSON; a line each.
 *
 * @throws Failure when there is nothing at the path
 */
export function fieldText(value: object, path: string, isTerminal: boolean): string {
  // What commands print is JSON, with undefined for what is left out.
  const whole = JSON.parse(JSON.stringify(value)) as Json;
  return valuesAt(whole, path, whole)
    .map((found) => {
      if (typeof found === "string") return `${isTerminal ? printable(found) : found}\n`;
      return `${typeof found === "object" && found !== null ? printableJson(found) : String(found)}\n`;
    })
    .join("");
}

function valuesAt(value: Json, path: string, whole: Json): Json[] {
  const find = (at: Json, segments: readonly string[]): Json[] => {
    const [segment, ...rest] = segments;
    if (segment === undefined) return [at];
    if (segment === "*" && Array.isArray(at)) return at.flatMap((each) => find(each, rest));
    const isParent = typeof at === "object" && at !== null && Object.hasOwn(at, segment);
    const child = isParent ? (at as { readonly [name: string]: Json })[segment] : undefined;
    if (child !== undefined) return find(child, rest);
    throw usage(`--field ${path}: there is no "${segment}" in the output.`, hintFor(at, whole));
  };
  return find(value, path.split("."));
}

/** The message contains the output if it is short, because the command has done its work and a new key's secret is not shown again. */
function hintFor(at: Json, whole: Json): string {
  const text = printableJson({ output: whole });
  return `There ${namesIn(at)}.${text.length > MAX_SHOWN ? "" : `\n  ${text}`}`;
}

function namesIn(value: Json): string {
  if (Array.isArray(value)) {
    return value.length === 0 ? "is an empty list" : `is a list: use 0 to ${value.length - 1}, or *`;
  }
  if (typeof value !== "object" || value === null) return `is ${JSON.stringify(value)}`;
  const names = Object.keys(value);
  return names.length === 0 ? "is an empty object" : `are ${names.join(", ")}`;
}
