import type { Schemas } from "../../api/published.d.ts";
import type { Stroke } from "./mask.ts";
import { type Finding, findingsOf, type Rule } from "./schema.ts";

export type ModelInFull = Omit<Schemas["ModelInFull"], "schema"> & { readonly schema: Rule };
export type Body = Readonly<Record<string, unknown>>;

/** A picture, a film or a recording that a request gives. */
export interface Media {
  /** An address, or the file itself as a data URI. */
  readonly uri: string;
  /** Of a file on this machine, and what was done to it. */
  readonly name?: string;
  readonly note?: string;
  /** Of a file that was uploaded, its media type. */
  readonly type?: string;
  /** Whether this page may show it: other origins' pictures it may not. */
  readonly isShown: boolean;
  /** What it was painted with, if it is a mask that was drawn here: the drawing goes on from there. */
  readonly strokes?: readonly Stroke[];
}

/** What the reader has given, by field, for all models alike. Fields of media have a list; others what JSON has. */
export type Values = Readonly<Record<string, unknown>>;

/** Fields in the order of the schema, but for those that all bodies begin with. */
export function fieldsOf({ schema }: Pick<ModelInFull, "schema">): [name: string, rule: Rule][] {
  return Object.entries(schema.properties ?? {}).filter(([name]) => name !== "model");
}

export function mediaOf({ inputs }: Pick<ModelInFull, "inputs">, name: string) {
  return inputs.find(({ field }) => field === name)?.media;
}

/** The files among what a field was given. A link may bring anything. */
export function mediaIn(value: unknown): readonly Media[] {
  return Array.isArray(value) ? value.filter((each): each is Media => typeof each?.uri === "string") : [];
}

/** Stands for the content of a file that was uploaded; the address of others, or their content. */
export function contentOf({ uri, type }: Media): string {
  return type === undefined ? uri : `data:${type};base64,${uri}`;
}

/** A field's value as the request has it; undefined where nothing is given. */
function given(model: ModelInFull, name: string, rule: Rule, value: unknown): unknown {
  if (mediaOf(model, name) !== undefined) {
    const uris = mediaIn(value).map(({ uri }) => uri);
    if (uris.length === 0) return undefined;
    return rule.type === "array" ? uris : uris[0];
  }
  return withoutEmpty(value);
}

function withoutEmpty(value: unknown): unknown {
  if (value === "" || value === null) return undefined;
  if (Array.isArray(value)) return value.length === 0 ? undefined : value;
  if (typeof value !== "object" || value === undefined) return value;
  const rest = Object.entries(value).filter(([, each]) => withoutEmpty(each) !== undefined);
  return rest.length === 0 ? undefined : Object.fromEntries(rest);
}

/** The field that takes a result, and its model: one of the preferred, in this order, or else the first that has one. */
export function placeFor(
  kind: "image" | "video",
  listed: readonly Pick<ModelInFull, "id" | "inputs">[],
  preferred: readonly string[],
): { readonly model: string; readonly field: string } | undefined {
  const first = preferred.flatMap((id) => listed.filter((model) => model.id === id));
  for (const { id, inputs } of [...first, ...listed]) {
    const input = inputs.find(({ media, role }) => media === kind && role !== "mask");
    if (input !== undefined) return { model: id, field: input.field };
  }
  return undefined;
}

/** What is sent to a model, and what it would say to it. */
export interface Request {
  readonly body: Body;
  readonly findings: readonly Finding[];
  /** What the reader gave and this model cannot take; only of models that are compared. */
  readonly leftOut: readonly string[];
}

/**
 * The request that the values come to.
 *
 * @param isFitted for a model beside the first: what it does not have, or has not like this, is left out and told
 */
export function requestOf(model: ModelInFull, values: Values, isFitted: boolean): Request {
  const leftOut: string[] = [];
  const entries = fieldsOf(model).flatMap(([name, rule]): [string, unknown][] => {
    const value = given(model, name, rule, values[name]);
    if (value === undefined) return [];
    if (isFitted && findingsOf(rule, value).length > 0) {
      leftOut.push(name);
      return [];
    }
    return [[name, value]];
  });
  const names = new Set(fieldsOf(model).map(([name]) => name));
  if (isFitted)
    for (const [name, value] of Object.entries(values))
      if (!names.has(name) && withoutEmpty(value) !== undefined) leftOut.push(name);
  const body = { model: model.id, ...Object.fromEntries(entries) };
  return { body, findings: findingsOf(model.schema, body), leftOut };
}

const FILE_CONTENT = /^(data:[^,]{1,100},).*$/s;

/** The same without the content of files, which no price depends on: small enough to be sent as somebody types. */
export function sketchOf(body: Body): Body {
  return mapTexts(body, (text) => (text.length > 500 ? text.replace(FILE_CONTENT, "$1AAAA") : text)) as Body;
}

/** The value with each text in it changed; lists and objects are walked. */
export function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === "string") return change(value);
  if (Array.isArray(value)) return value.map((each) => mapTexts(each, change));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, mapTexts(each, change)]));
}

/** Whether what is said is about this field, or about a part of it. */
export function isAbout(name: string, param: string): boolean {
  return param === name || param.startsWith(`${name}.`) || param.startsWith(`${name}[`);
}
