import type { Json } from "../json.ts";
import type { MediaKind } from "../media/asset.ts";

/** Translates the path of a field, by our names, into the name that the reader used. */
export type NameOf = (field: string) => string;

export interface Field {
  /** Path of the field at fault, by our names: `image_urls[2]`. */
  readonly field: string;
}

/** A value that a caller gave. For a list or an object: only that it is one, or all of it as JSON. */
export type Given =
  | string
  | number
  | boolean
  | null
  | { readonly a: "list" | "object" }
  | { readonly json: Json };

/** One function per kind of facts, which makes the message. `name` gives the reader's name of a field. */
export type WordTable = Readonly<Record<string, (facts: never, name: NameOf) => string>>;

/** The facts for which a table has words, distinguished by `kind`. */
export type FactsOf<Table extends WordTable> = {
  [Kind in keyof Table]: { readonly kind: Kind } & (Table[Kind] extends () => string
    ? unknown
    : Parameters<Table[Kind]>[0]);
}[keyof Table];

/** How many characters of the given value a message shows. */
const SHOWN = 80;

export function cut(text: string): string {
  return text.length <= SHOWN ? text : `${text.slice(0, SHOWN).toWellFormed()}…`;
}

/** The given value as a message shows it; a text is quoted. */
export function show(given: Given): string {
  if (typeof given === "string") return JSON.stringify(cut(given));
  if (typeof given !== "object" || given === null) return String(given);
  if ("json" in given)
    return typeof given.json === "string" ? show(given.json) : cut(JSON.stringify(given.json));
  return given.a === "list" ? "a list" : "an object";
}

/** A clause as a sentence: with a full stop, unless it ends with a question, as after `did you mean "name"?`. */
export function sentence(clause: string): string {
  return /[.?]$/.test(clause) ? clause : `${clause}.`;
}

/** `a, b or c`. */
export function either(names: readonly string[]): string {
  return names.length < 2 ? (names[0] ?? "") : `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
}

export function article(kind: MediaKind): string {
  return { image: "an image", video: "a video", audio: "a recording" }[kind];
}

/** Translates fields by our name for their path, or for the field at the top of it. Other fields keep their names. */
export function namesFrom(names: Readonly<Record<string, string>>): NameOf {
  // A name may be an inherited property. No inherited property is a text.
  const nameOf = (field: string) => {
    const name: unknown = names[field];
    return typeof name === "string" ? name : undefined;
  };
  return (field) => {
    const [top = ""] = /^[^.[]*/.exec(field) ?? [];
    const name = nameOf(top);
    return nameOf(field) ?? (name === undefined ? field : name + field.slice(top.length));
  };
}
