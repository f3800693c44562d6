import { isJsonObject } from "../../domain/json.ts";
import type { Model, Route } from "../../domain/model/model.ts";
import { propertyOf } from "../../service/model-fields.ts";
import { type Vocabulary, vocabularyOf } from "./foreign-words.ts";

/** What is the same in every request that asks a model in the same words. */
export interface KnownWords {
  /** The caller's names for fields, as messages may name those that were not given. */
  readonly names: Readonly<Record<string, string>>;
  /** Fields by the model's own names whose texts it takes as they are, such as a prompt. */
  readonly texts: ReadonlySet<string>;
}

const knowns = new WeakMap<Model, Map<string, KnownWords>>();

/**
 * @param at what stands before the caller's names in messages
 * @param route whose words are reversed
 */
export function knownOf(
  model: Model,
  { at, route }: { readonly at: string; readonly route?: Route | undefined },
): KnownWords {
  const known = knowns.getOrInsertComputed(model, () => new Map());
  const how = route === undefined ? at : `${at} ${route.provider} ${route.upstreamModel}`;
  return known.getOrInsertComputed(how, () => made(model, route && vocabularyOf(model, route), at));
}

function made(model: Model, words: Vocabulary | undefined, at: string): KnownWords {
  const { properties } = model.schema;
  const own = isJsonObject(properties) ? Object.keys(properties) : [];
  const isText = (name: string) => {
    const property = propertyOf(model, name);
    const isTranslated = words?.meanings.has(name) === true || name === "size" || name === "output_format";
    const isMedia = model.mediaFields.some((field) => field.name === name);
    return property?.type === "string" && property.enum === undefined && !isTranslated && !isMedia;
  };
  return {
    names: Object.fromEntries(own.map((name) => [name, at + (words?.theirs.get(name) ?? name)])),
    texts: new Set(own.filter(isText)),
  };
}
