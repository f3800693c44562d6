import { isJsonObject, type Json, type JsonObject } from "../../src/domain/json.ts";
import { textOf } from "../client/lenient.ts";
import { inputsOf } from "../client/model.ts";
import { column } from "./table.ts";

export const PARAMETER_COLUMNS = [
  column.word("PARAMETER"),
  column.word("TYPE", 1),
  column.text("ALLOWED", 2),
  column.word("DEFAULT", 3),
  column.text("WHAT", 4),
];

/** The fields of a model's create body, those that are required first, with a star. */
export function parameterRows(model: JsonObject): string[][] {
  const { properties, required } = isJsonObject(model.schema) ? model.schema : {};
  const needed = new Set(Array.isArray(required) ? required.map(String) : []);
  const media = new Map(inputsOf(model).map((input) => [input.field, input.media]));
  const rows = Object.entries(isJsonObject(properties) ? properties : {}).map(([name, property]) => {
    const about = isJsonObject(property) ? property : {};
    return [
      needed.has(name) ? `${name} *` : name,
      typeOf(about, media.get(name)),
      allowed(about, media.get(name)),
      about.default === undefined ? "" : plain(about.default),
      textOf(about.description),
    ];
  });
  const isNeeded = ([name = ""]: string[]) => name.endsWith(" *");
  return [...rows.filter(isNeeded), ...rows.filter((row) => !isNeeded(row))];
}

function typeOf({ type }: JsonObject, media: string | undefined): string {
  if (media !== undefined) return type === "array" ? `${media}s` : media;
  return [type].flat().map(String).join("|").replace("undefined", "any");
}

/** What a value must be, in a few words. */
function allowed(property: JsonObject, media: string | undefined): string {
  const own = property["x-must"];
  if (typeof own === "string" && media === undefined) return own.replace(/^be /, "");
  if (Array.isArray(property.enum)) return property.enum.map(plain).join(" | ");
  if (isJsonObject(property.properties)) return Object.keys(property.properties).join(", ");
  const { minimum, maximum, minLength, maxLength, minItems, maxItems } = property;
  const limits = [
    span(minimum, maximum),
    span(minLength, maxLength, " characters"),
    span(minItems, maxItems, " of them"),
    media === undefined ? undefined : "@file or URL",
  ];
  return limits.filter((each) => each !== undefined).join(", ");
}

function span(least: Json | undefined, most: Json | undefined, unit = ""): string | undefined {
  if (typeof least !== "number" && typeof most !== "number") return undefined;
  if (typeof most !== "number") return `${String(least)} or more${unit}`;
  return `${typeof least === "number" ? `${least} to ` : "at most "}${most}${unit}`;
}

function plain(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
