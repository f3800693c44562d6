import { isJsonObject, type Json, type JsonObject, propertyOf } from "../json.ts";
import type { Model } from "../model/model.ts";
import type { ModeratedText } from "../ports/moderation.ts";

/** Fields that say what to do with the request, not what to make. */
const NOT_FOR_PROVIDERS = new Set(["model", "callback_url", "task_id", "index"]);

/**
 * The texts of a create body that callers choose freely, after the model's schema accepted it. Media fields do not count, nor
 * do values that the schema lists or gives a form. Field names count if callers choose them too.
 */
export function textsOf(
  { schema, mediaFields }: Pick<Model, "schema" | "mediaFields">,
  body: JsonObject,
): ModeratedText[] {
  const media = new Set(mediaFields.map(({ name }) => name));
  return Object.entries(body).flatMap(([name, value]) =>
    NOT_FOR_PROVIDERS.has(name) || media.has(name) ? [] : textsIn(value, name, propertyOf(schema, name)),
  );
}

function textsIn(value: Json | undefined, field: string, schema: JsonObject = {}): ModeratedText[] {
  if (typeof value === "string") return value === "" || isFormed(schema) ? [] : [{ field, text: value }];
  if (Array.isArray(value)) {
    const items = isJsonObject(schema.items) ? schema.items : undefined;
    return value.flatMap((each: Json, i) => textsIn(each, `${field}[${i}]`, items));
  }
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([name, each]) => {
    const property = propertyOf(schema, name);
    const ofName = property === undefined ? [{ field, text: name }] : [];
    return [...ofName, ...textsIn(each, `${field}.${name}`, property)];
  });
}

/** Examples of texts without a form. A field may ask for a text of some length, or for a sentence. */
const PLAIN = [
  ...["word", "two words", "Some words, and some more."],
  "several words in a row, and then some others",
  `Some words, and ${"many, many ".repeat(20)}more.`,
];

/** Whether the schema lists a text, or the text has a form that plain words cannot have, such as `1024x768`. */
function isFormed({ enum: listed, const: only, pattern }: JsonObject): boolean {
  if (listed !== undefined || only !== undefined) return true;
  return typeof pattern === "string" && !PLAIN.some((text) => new RegExp(pattern, "u").test(text));
}

/** The field of the body that contains a text. */
export function topField(field: string): string {
  return /^[^.[]*/.exec(field)?.[0] ?? field;
}
