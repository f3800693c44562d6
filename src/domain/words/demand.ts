import type { Json } from "../json.ts";

/** What a value must be. */
export type Demand =
  /** One of these texts. */
  | { readonly oneOf: readonly string[] }
  /** One of these values. */
  | { readonly anyOf: readonly Json[] }
  | { readonly equal: Json }
  /** The value must have one of these types of JSON Schema. */
  | { readonly types: readonly string[] }
  | { readonly integer: { readonly least: number; readonly most: number } }
  | { readonly seconds: { readonly least: number; readonly most: number } }
  /** The value must be this large, or have this many of something. */
  | {
      readonly many: "value" | "characters" | "entries" | "fields";
      readonly least?: number | undefined;
      readonly most?: number | undefined;
    }
  | { readonly form: Form }
  /** The words of the schema or the table of limits that the value is checked against. They complete "must …". */
  | { readonly rule: string }
  | { readonly keyword: string };

/** Forms of texts and values; each completes "must …". */
const FORMS = {
  address: 'be {"image_url": "<URL or base64 data URI>"}',
  amount: "be an amount like 5.00",
  amount_from_zero: "be an amount from 0",
  boolean: "be true or false",
  cursor: "be the `next` of an earlier page",
  data_uri: "be a base64 data URI: data:<type>;base64,<content>",
  day: "be a day like 2026-11-01",
  event_id: "be the id of an event of this stream",
  json: "be JSON",
  kind: "be image or video",
  model_id: "be the id of a model",
  moment: "be a time such as 2026-11-21T14:00:00Z, or Unix seconds",
  multiplier: "be a number above 0 and at most 1000, such as 1.25",
  response_format: "be b64_json or url",
  size: 'be "<width>x<height>" or "auto"',
  task_id: "be the id of a task",
  text: "be a text",
  text_to_read: "have characters other than white space",
} as const;
export type Form = keyof typeof FORMS;

const TYPES: Readonly<Record<string, string>> = {
  string: "a string",
  integer: "an integer",
  number: "a number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
};

/** A demand as the words that complete "must …". */
export function demandWords(demand: Demand): string {
  if ("oneOf" in demand) return `be one of ${demand.oneOf.join(", ")}`;
  if ("anyOf" in demand && demand.anyOf.length === 1) return `be ${JSON.stringify(demand.anyOf[0])}`;
  if ("anyOf" in demand) return `be one of ${demand.anyOf.map((each) => JSON.stringify(each)).join(", ")}`;
  if ("equal" in demand) return `be ${JSON.stringify(demand.equal)}`;
  if ("types" in demand) return `be ${demand.types.map((each) => TYPES[each] ?? each).join(" or ")}`;
  if ("integer" in demand) return `be an integer from ${demand.integer.least} to ${demand.integer.most}`;
  if ("seconds" in demand) {
    return `be a number of seconds from ${demand.seconds.least} to ${demand.seconds.most}`;
  }
  if ("many" in demand) {
    return demand.many === "value" ? `be ${span(demand)}` : `have ${span(demand)} ${demand.many}`;
  }
  if ("form" in demand) return FORMS[demand.form];
  if ("rule" in demand) return demand.rule;
  return demand.keyword === "uniqueItems"
    ? "have no entry twice"
    : `be as its schema says (${demand.keyword})`;
}

function span({ least, most }: { least?: number | undefined; most?: number | undefined }): string {
  if (most === undefined) return `at least ${least}`;
  return least === undefined ? `at most ${most}` : `${least} to ${most}`;
}
