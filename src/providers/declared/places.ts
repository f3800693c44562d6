import type { ASTNode } from "@marcbachmann/cel-js";
import { parseExpression } from "./expression.ts";
import { readTemplate } from "./template.ts";

/** A step into a value: a member, a place in a list, or every entry of one. */
export type Step = string | number;
const EVERY = 0;

/** A place in an answer or a request that an expression reads. */
export interface Place {
  /** The variable: `body`, `params`; or `input` for the files that `input` and `inputs` find. */
  readonly root: string;
  readonly steps: readonly Step[];
  /** The expression can do without it. */
  readonly isOptional: boolean;
}

/** What expressions read, and what they compare it with. */
export interface Reading {
  readonly places: readonly Place[];
  /** Numbers, texts and booleans that are written in them. */
  readonly literals: readonly (string | number | boolean)[];
  /** Functions that are called by their names alone. */
  readonly functions: ReadonlySet<string>;
}

type Bound = ReadonlyMap<string, Place>;
const MACROS: ReadonlySet<string> = new Set(["map", "filter", "exists", "exists_one", "all"]);
const INPUTS: ReadonlySet<string> = new Set(["input", "inputs"]);
/** Methods that give what they are called on. */
const SAME: ReadonlySet<string> = new Set(["orValue", "value", "filter", "or"]);

/** Reads every `${…}` of a value of a form. */
export function readingOf(value: unknown): Reading {
  return readingOfExpressions(expressionsIn(value));
}

export function readingOfExpressions(sources: readonly string[]): Reading {
  const walk = new Walk();
  for (const source of sources) walk.visit(parseExpression(source), new Map());
  return walk;
}

/** The sources of every `${…}` of a value of a form. */
export function expressionsIn(value: unknown): string[] {
  if (typeof value === "string") return readTemplate(value).expressions.map(({ source }) => source);
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(expressionsIn);
}

class Walk implements Reading {
  readonly places: Place[] = [];
  readonly literals: (string | number | boolean)[] = [];
  readonly functions = new Set<string>();

  /** @param isOwner it is what a place that is known already begins with */
  visit(node: ASTNode, bound: Bound, isOwner = false): void {
    if (node.op === "value") this.#literal(node.args);
    if (node.op === "call") this.functions.add(node.args[0]);
    const place = placeOf(node, bound);
    if (place !== undefined && !isOwner) this.places.push(place);
    const isAsked = node.op === "call" && node.args[0] === "has";
    for (const [i, [child, known]] of childrenOf(node, bound).entries()) {
      const asked = isAsked ? placeOf(child, known) : undefined;
      if (asked !== undefined) this.places.push({ ...asked, isOptional: true });
      this.visit(child, known, asked !== undefined || (place !== undefined && i === 0));
    }
  }

  #literal(value: unknown): void {
    if (typeof value === "bigint") this.literals.push(Number(value));
    if (typeof value === "string" || typeof value === "number" || typeof value === "boolean")
      this.literals.push(value);
  }
}

function placeOf(node: ASTNode, bound: Bound): Place | undefined {
  switch (node.op) {
    case "id":
      return bound.get(node.args) ?? { root: node.args, steps: [], isOptional: false };
    case ".":
    case ".?":
      return stepInto(placeOf(node.args[0], bound), node.args[1], node.op === ".?");
    case "[]":
    case "[?]": {
      const [owner, index] = node.args;
      const step = index.op === "value" ? stepOf(index.args) : undefined;
      return step === undefined ? undefined : stepInto(placeOf(owner, bound), step, node.op === "[?]");
    }
    case "rcall":
      return SAME.has(node.args[0]) ? placeOf(node.args[1], bound) : undefined;
    case "call":
      return INPUTS.has(node.args[0]) ? { root: "input", steps: [], isOptional: false } : undefined;
    default:
      return undefined;
  }
}

function stepOf(index: unknown): Step | undefined {
  if (typeof index === "string") return index;
  return typeof index === "bigint" || typeof index === "number" ? Number(index) : undefined;
}

function stepInto(owner: Place | undefined, step: Step, isOptional: boolean): Place | undefined {
  return owner && { ...owner, steps: [...owner.steps, step], isOptional: isOptional || owner.isOptional };
}

/** The nodes below one, each with the variables that macros bind there. */
function childrenOf(node: ASTNode, bound: Bound): [ASTNode, Bound][] {
  const all = (nodes: readonly ASTNode[]) => nodes.map((each): [ASTNode, Bound] => [each, bound]);
  switch (node.op) {
    case "value":
    case "id":
      return [];
    case ".":
    case ".?":
      return all([node.args[0]]);
    case "call":
      return all(node.args[1]);
    case "rcall":
      return methodChildren(node, bound);
    case "map":
      return all(node.args.flat());
    case "!_":
    case "-_":
      return all([node.args]);
    default:
      return all(node.args as readonly ASTNode[]);
  }
}

function methodChildren(node: Extract<ASTNode, { op: "rcall" }>, bound: Bound): [ASTNode, Bound][] {
  const [name, receiver, given] = node.args;
  const [variable, ...rest] = given;
  if (!MACROS.has(name) || variable?.op !== "id")
    return [receiver, ...given].map((each): [ASTNode, Bound] => [each, bound]);
  const entry = stepInto(placeOf(receiver, bound), EVERY, false);
  const inner = new Map(bound);
  inner.set(variable.args, entry ?? { root: "", steps: [], isOptional: true });
  return [[receiver, bound], ...rest.map((each): [ASTNode, Bound] => [each, inner])];
}

/** Sets what is at a place of a value, and makes what leads there. */
export function withValueAt(owner: unknown, [step, ...rest]: readonly Step[], value: unknown): unknown {
  if (step === undefined) return value;
  if (typeof step === "number") {
    const list: unknown[] = Array.isArray(owner) ? [...owner] : [];
    while (list.length <= step) list.push({});
    list[step] = withValueAt(list[step], rest, value);
    return list;
  }
  const mapping = typeof owner === "object" && owner !== null && !Array.isArray(owner) ? owner : {};
  const inner: unknown = (mapping as Readonly<Record<string, unknown>>)[step];
  return { ...mapping, [step]: withValueAt(inner, rest, value) };
}
