import type { ASTNode } from "@marcbachmann/cel-js";
import { suggest } from "../../domain/suggest.ts";

/** An expression that cannot be used. `offset` is where in its source. */
export class ExpressionError extends Error {
  override readonly name = "ExpressionError";
  constructor(
    message: string,
    readonly offset = 0,
  ) {
    super(message);
  }
}

/** Most entries of a list that an expression sees, and of one inside a macro that is inside another. */
export const LIST_MAX = 1_000;
export const NESTED_LIST_MAX = 60;
/** Longest text that an expression sees in an answer, or builds inside a macro. */
export const TEXT_MAX = 64 * 1024;
/** Nodes that one expression may visit. A visit takes about 0.2 µs, so this takes 20 ms. */
const VISITS_MAX = 100_000;

const MACROS: ReadonlySet<string> = new Set(["map", "filter", "exists", "exists_one", "all"]);
/** Methods and functions, by their names. What is not here is refused: regular expressions and calendars among others. */
const FUNCTIONS: ReadonlySet<string> = new Set([
  ...MACROS,
  ...["has", "size", "string", "int", "double", "bool", "type", "dyn"],
  ...["contains", "startsWith", "endsWith", "indexOf", "lastIndexOf", "substring", "trim"],
  ...["lowerAscii", "upperAscii", "split", "join", "replace"],
  ...["orValue", "or", "hasValue", "value", "none", "of"],
  ...["base64", "uri", "url", "json", "input", "inputs", "uuid"],
]);
/** Names that CEL itself brings along. */
const OWN_NAMES: ReadonlySet<string> = new Set([
  ...["optional", "int", "double", "string", "bool", "list", "map", "bytes", "uint", "null_type"],
]);

/** What an expression turned out to be made of. */
export interface Parts {
  /** The variables that it reads. */
  readonly names: ReadonlySet<string>;
  /** Members of variables, `params.seed`, and roles of inputs, `input(mask)`. */
  readonly members: ReadonlySet<string>;
  /** How often its nodes are visited at most. */
  readonly visits: number;
  /** A macro of it is inside another one. */
  readonly isNested: boolean;
}

interface Walk {
  readonly allowed: ReadonlySet<string>;
  readonly names: Set<string>;
  readonly members: Set<string>;
  visits: number;
  isNested: boolean;
}

/** Where in the tree a node stands. */
interface Place {
  /** The variables that macros bind. */
  readonly bound: ReadonlySet<string>;
  readonly depth: number;
  /** How often a node is visited here at most. */
  readonly times: number;
}

/**
 * Checks what a parsed expression is made of and how long it may take. Calls of `split` and `join` become calls of our own, which are
 * bounded.
 *
 * @param allowed the variables that are known where the expression stands
 * @throws ExpressionError
 */
export function fence(ast: ASTNode, allowed: ReadonlySet<string>): Parts {
  const walk: Walk = { allowed, names: new Set(), members: new Set(), visits: 0, isNested: false };
  visit(walk, ast, { bound: new Set(), depth: 0, times: 1 });
  if (walk.visits > VISITS_MAX)
    throw new ExpressionError("takes too long for long lists: do less inside map, filter, exists and all");
  return walk;
}

function visit(walk: Walk, node: ASTNode, place: Place): void {
  walk.visits += place.times;
  switch (node.op) {
    case "value":
      return;
    case "id":
      readName(walk, node.args, node.start, place);
      return;
    case ".":
    case ".?":
      noteMember(walk, node.args[0], node.args[1]);
      visit(walk, node.args[0], place);
      return;
    case "call":
      visitCall(walk, node.args[0], node.args[1], node, place);
      return;
    case "rcall":
      visitMethod(walk, node, place);
      return;
    case "map":
      for (const [key, value] of node.args) for (const each of [key, value]) visit(walk, each, place);
      return;
    case "!_":
    case "-_":
      visit(walk, node.args, place);
      return;
    case "+":
      if (place.depth > 0 && varyingTerms(node) > 1)
        throw new ExpressionError(
          'adds values inside map, filter, exists or all, which may grow without end; use [a, b].join("")',
          node.start,
        );
      break;
    default:
  }
  for (const each of node.args as readonly ASTNode[]) visit(walk, each, place);
}

function readName({ allowed, names }: Walk, name: string, at: number, { bound }: Place): void {
  if (bound.has(name) || OWN_NAMES.has(name)) return;
  if (!allowed.has(name)) {
    const near = suggest(name, [...allowed]);
    const hint =
      near === undefined ? `; known here: ${[...allowed].join(", ")}` : `; did you mean "${near}"?`;
    throw new ExpressionError(`reads "${name}", which is not known here${hint}`, at);
  }
  names.add(name);
}

/** Notes `params.seed`, but no deeper members. */
function noteMember({ members }: Walk, owner: ASTNode, member: string): void {
  if (owner.op === "id") members.add(`${owner.args}.${member}`);
}

function visitCall(walk: Walk, name: string, given: readonly ASTNode[], node: ASTNode, place: Place): void {
  if (!FUNCTIONS.has(name)) {
    const near = suggest(name, [...FUNCTIONS]);
    const hint = near === undefined ? "" : `; did you mean "${near}"?`;
    throw new ExpressionError(`calls "${name}", which is no function here${hint}`, node.start);
  }
  const [first] = given;
  if ((name === "input" || name === "inputs") && first?.op === "value") {
    walk.members.add(`input(${String(first.args)})`);
  }
  for (const each of given) visit(walk, each, place);
}

function visitMethod(walk: Walk, node: Extract<ASTNode, { op: "rcall" }>, place: Place): void {
  const [name, receiver, given] = node.args;
  visit(walk, receiver, place);
  if (MACROS.has(name)) visitMacro(walk, node, place);
  else visitCall(walk, name, given, node, place);
  // The library allows no other implementation of its own methods.
  if (name === "split" || name === "join") (node.args as [string, ...unknown[]])[0] = `${name}Bounded`;
}

function visitMacro(walk: Walk, node: Extract<ASTNode, { op: "rcall" }>, place: Place): void {
  const [, receiver, [variable, ...rest]] = node.args;
  const { bound, depth, times } = place;
  if (variable?.op !== "id") throw new ExpressionError("needs the name of a variable first", node.start);
  if (depth === 2)
    throw new ExpressionError(
      "has more than two of map, filter, exists and all inside each other",
      node.start,
    );
  if (depth === 1) walk.isNested = true;
  // Visits of the inner one, in lists that are shorter then.
  const most = depth === 1 ? (NESTED_LIST_MAX * NESTED_LIST_MAX) / times : LIST_MAX;
  const inner = {
    bound: new Set([...bound, variable.args]),
    depth: depth + 1,
    times: times * most * varyingTerms(receiver),
  };
  for (const each of rest) visit(walk, each, inner);
}

/** How many values that are not written out a sum adds; 1 for what is no sum. */
function varyingTerms(node: ASTNode): number {
  if (node.op === "+") return varyingTerms(node.args[0]) + varyingTerms(node.args[1]);
  return node.op === "value" ? 0 : 1;
}
