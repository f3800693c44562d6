/** What the service says of a create body, or of a part of it: JSON Schema 2020-12, as far as models use it. */
export interface Rule {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly multipleOf?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly items?: Rule;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Rule>>;
  readonly additionalProperties?: boolean | Rule;
  readonly dependentRequired?: Readonly<Record<string, readonly string[]>>;
  readonly allOf?: readonly Rule[];
  readonly anyOf?: readonly Rule[];
  readonly oneOf?: readonly Rule[];
  readonly not?: Rule;
  readonly if?: Rule;
  readonly then?: Rule;
  readonly else?: Rule;
  /** What a rule asks for, for people. */
  readonly "x-rule"?: string;
  /** The field that a rule is about. */
  readonly "x-param"?: string;
  /** What a value has to do, after "must". */
  readonly "x-must"?: string;
}

/** What is wrong with a body. */
export interface Finding {
  /** Path of the field, `image_urls[2]`. */
  readonly param: string;
  readonly message: string;
  /** Nothing was given yet where something has to be. */
  readonly isMissing?: boolean;
}

/** What the schema has against a body. The service checks it again. */
export function findingsOf(rule: Rule, body: unknown): Finding[] {
  const found: Finding[] = [];
  check(rule, body, "", found);
  return found;
}

function holds(rule: Rule, value: unknown): boolean {
  return findingsOf(rule, value).length === 0;
}

function check(rule: Rule, value: unknown, at: string, found: Finding[]): void {
  const must = rule["x-must"];
  const say = (text: string) => found.push({ param: at, message: `must ${must ?? text}` });
  if (!isOfType(rule.type, value)) return void say(`be ${typeName(rule)}`);
  if (rule.const !== undefined && !same(rule.const, value))
    return void say(`be ${JSON.stringify(rule.const)}`);
  if (rule.enum !== undefined && !rule.enum.some((each) => same(each, value)))
    return void say(`be one of ${rule.enum.map(String).join(", ")}`);
  if (typeof value === "string") checkText(rule, value, say);
  else if (typeof value === "number") checkNumber(rule, value, say);
  else if (Array.isArray(value)) checkList(rule, value, at, found, say);
  else if (typeof value === "object" && value !== null) checkObject(rule, value, at, found);
  checkTogether(rule, value, at, found);
}

type Say = (text: string) => void;

function checkText(rule: Rule, value: string, say: Say): void {
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern, format } = rule;
  const length = [...value].length;
  if (length < minLength) say(minLength === 1 ? "not be empty" : `have ${minLength} characters or more`);
  else if (length > maxLength) say(`have at most ${maxLength} characters, and has ${length}`);
  else if (pattern !== undefined && !matches(pattern, value)) say(`match ${pattern}`);
  else if (format === "uri" && !URL.canParse(value)) say("be an absolute address");
}

/** A pattern that this browser cannot read is left to the service. */
function matches(pattern: string, value: string): boolean {
  try {
    return new RegExp(pattern, "u").test(value);
  } catch {
    return true;
  }
}

function checkNumber(rule: Rule, value: number, say: Say): void {
  const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = rule;
  const { exclusiveMinimum, exclusiveMaximum, multipleOf } = rule;
  const isWithin = value >= minimum && value <= maximum;
  const isBetween =
    (exclusiveMinimum === undefined || value > exclusiveMinimum) &&
    (exclusiveMaximum === undefined || value < exclusiveMaximum);
  if (!isWithin) say(`be ${boundsText(rule)}`);
  else if (!isBetween) say(`be above ${exclusiveMinimum ?? "…"} and below ${exclusiveMaximum ?? "…"}`);
  else if (multipleOf !== undefined && Math.abs(Math.round(value / multipleOf) * multipleOf - value) > 1e-9)
    say(`be a multiple of ${multipleOf}`);
}

/** `from 1 to 10`, `at least 1`. */
export function boundsText({ minimum, maximum }: Pick<Rule, "minimum" | "maximum">): string {
  if (minimum !== undefined && maximum !== undefined) return `from ${minimum} to ${maximum}`;
  return minimum === undefined ? `at most ${maximum}` : `at least ${minimum}`;
}

function checkList(rule: Rule, value: readonly unknown[], at: string, found: Finding[], say: Say): void {
  const { minItems = 0, maxItems = Number.POSITIVE_INFINITY, items, uniqueItems } = rule;
  if (value.length < minItems) say(`have ${minItems} or more`);
  if (value.length > maxItems) say(`have at most ${maxItems}, and has ${value.length}`);
  if (uniqueItems && new Set(value.map((each) => JSON.stringify(each))).size < value.length)
    say("have no entry twice");
  if (items !== undefined) value.forEach((each, i) => void check(items, each, `${at}[${i}]`, found));
}

function checkObject(rule: Rule, value: object, at: string, found: Finding[]): void {
  const path = (name: string) => (at === "" ? name : `${at}.${name}`);
  const has = (name: string) => (value as Record<string, unknown>)[name] !== undefined;
  for (const name of rule.required ?? [])
    if (!has(name)) found.push({ param: path(name), message: "is needed", isMissing: true });
  for (const [name, needed] of Object.entries(rule.dependentRequired ?? {}))
    if (has(name))
      for (const other of needed)
        if (!has(other))
          found.push({ param: path(name), message: `is valid only together with ${path(other)}` });
  for (const [name, each] of Object.entries(value)) {
    const known = rule.properties?.[name];
    if (known !== undefined) check(known, each, path(name), found);
    else if (rule.additionalProperties === false)
      found.push({ param: path(name), message: "is no field of this model" });
  }
}

function checkTogether(rule: Rule, value: unknown, at: string, found: Finding[]): void {
  const told = (part: Rule, isKept: boolean) => {
    if (!isKept)
      found.push({
        param: part["x-param"] ?? at,
        message: part["x-rule"] ?? "does not go together with the other fields",
      });
  };
  for (const part of rule.allOf ?? []) {
    if (part["x-rule"] === undefined) check(part, value, at, found);
    else told(part, holds(part, value));
  }
  if (rule.anyOf !== undefined)
    told(
      rule,
      rule.anyOf.some((part) => holds(part, value)),
    );
  if (rule.oneOf !== undefined) told(rule, rule.oneOf.filter((part) => holds(part, value)).length === 1);
  if (rule.not !== undefined) told(rule, !holds(rule.not, value));
  if (rule.if === undefined) return;
  const branch = holds(rule.if, value) ? rule.then : rule.else;
  if (branch !== undefined) check(branch, value, at, found);
}

function isOfType(type: Rule["type"], value: unknown): boolean {
  if (type === undefined) return true;
  return [type].flat().some((each) => {
    if (each === "integer") return Number.isInteger(value);
    if (each === "array") return Array.isArray(value);
    if (each === "null") return value === null;
    if (each === "object") return typeof value === "object" && value !== null && !Array.isArray(value);
    return typeof value === each;
  });
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  integer: "a whole number",
  number: "a number",
  boolean: "true or false",
  string: "a text",
  array: "a list",
  object: "an object",
};

function typeName(rule: Rule): string {
  const type = [rule.type ?? ""].flat()[0] ?? "";
  const name = TYPE_NAMES[type] ?? type;
  const isBounded = rule.minimum !== undefined || rule.maximum !== undefined;
  return isBounded ? `${name} ${boundsText(rule)}` : name;
}

function same(one: unknown, other: unknown): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}

/** A finding as a sentence. */
export function sentenceOf({ param, message }: Finding): string {
  return /^[a-z]+ /.test(message) && !/[.!]$/.test(message) ? `${param} ${message}.` : message;
}
