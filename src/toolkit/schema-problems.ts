import type { SchemaViolation } from "./json-schema.ts";

/** Steps from the whole to a value in it. */
export type Path = readonly (string | number)[];

/** What is wrong with a value that has a schema, and where. */
export interface Problem {
  readonly path: Path;
  /** Completes a sentence that begins with the field: `must be …`. */
  readonly problem: string;
  /** The member of `path` with this name is at fault for being there, or for its name. */
  readonly member?: string;
}

/** `price.lines[0].amount`; empty for the whole. */
export function pathText(path: Path): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === "number") return `${text}[${step}]`;
    return text === "" ? step : `${text}.${step}`;
  }, "");
}

/** How known names are told to whom gives another one, to stand after a problem. */
export interface Hints {
  /** Of a field. */
  readonly field: Hint;
  /** Of a value, after those there are. */
  readonly value: Hint;
}
type Hint = (given: string, known: readonly string[]) => string;

/** The problems that a check of `value` found, each place once. Unknown fields come first: they explain missing ones. */
export function problemsOf(violations: readonly SchemaViolation[], value: unknown, hints: Hints): Problem[] {
  const problems = new Map<string, Problem>();
  for (const violation of violations) {
    // Said of a condition whose own violations are listed too.
    if (violation.keyword === "if") continue;
    const problem = describe(violation, value, hints);
    const place = JSON.stringify([problem.path, problem.member]);
    // If a rule has alternatives, the first alternative says more than the rule, which follows them.
    if (!problems.has(place)) problems.set(place, problem);
  }
  const found = [...problems.values()];
  const isUnknown = ({ member }: Problem) => member !== undefined;
  return [...found.filter(isUnknown), ...found.filter((each) => !isUnknown(each))];
}

function describe(violation: SchemaViolation, value: unknown, hints: Hints): Problem {
  const { path, found } = findAt(violation.instancePath, value);
  const { params, parentSchema } = violation;
  switch (violation.keyword) {
    case "additionalProperties": {
      const member = String(params.additionalProperty);
      const known = Object.keys(parentSchema?.properties ?? {});
      return { path, member, problem: `has an unknown field "${member}"${hints.field(member, known)}` };
    }
    case "propertyNames": {
      const member = String(params.propertyName);
      return { path, member, problem: `has an unknown name "${member}"` };
    }
    case "required":
      return { path, problem: `lacks the field "${params.missingProperty}"` };
    case "enum": {
      const known = params.allowedValues.filter((each: unknown) => typeof each === "string");
      const hint = typeof found === "string" ? hints.value(found, known) : "";
      return { path, problem: `must ${demand(violation)}${hint}` };
    }
    default:
      return { path, problem: `must ${demand(violation)}` };
  }
}

function demand({ keyword, parentSchema = {}, params, message }: SchemaViolation): string {
  const own: unknown = parentSchema["x-must"];
  if (typeof own === "string") return own;
  switch (keyword) {
    case "type":
      return `be ${typeNames(parentSchema.type)}`;
    case "enum":
      return `be one of ${params.allowedValues.join(", ")}`;
    case "minItems":
      return "have at least one entry";
    case "minProperties":
      return "have at least one member";
    default:
      return (message ?? "be as its schema says").replace(/^must /, "");
  }
}

const TYPES: Readonly<Record<string, string>> = {
  string: "a text",
  integer: "a whole number",
  number: "a number",
  boolean: "a boolean",
  array: "a list",
  object: "an object",
};

function typeNames(type: unknown): string {
  const names = [type].flat().map((each) => TYPES[String(each)] ?? String(each));
  const last = names.pop();
  return names.length === 0 ? `${last}` : `${names.join(", ")} or ${last}`;
}

/** The steps of a JSON Pointer into a value, of which those into lists become numbers, and what is there. */
function findAt(pointer: string, value: unknown): { readonly path: Path; readonly found: unknown } {
  const path: (string | number)[] = [];
  let node = value;
  for (const part of pointer.split("/").slice(1)) {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    const step = Array.isArray(node) ? Number(name) : name;
    path.push(step);
    node = Array.isArray(node) ? node[Number(name)] : isMapping(node) ? node[name] : undefined;
  }
  return { path, found: node };
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
