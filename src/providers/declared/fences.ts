import type { ASTNode } from "@marcbachmann/cel-js";
import { suggest } from "../../domain/suggest.ts";
import { FILE_FROM_BYTES } from "../kit/json-answer.ts";

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

/** Most entries of a list, and of a mapping, that an expression sees; the second where a macro of it is inside another. */
export const LIST_MAX = 1_000;
export const NESTED_LIST_MAX = 60;
/**
 * Longest text that an expression sees or builds; the second where it has macros, which go through texts again and again. What is cut
 * is never base64 of an answer: that is a file from this length on, for which something short stands.
 */
export const TEXT_MAX = 64 * 1024;
export const MACRO_TEXT_MAX = FILE_FROM_BYTES;
/** Values that one expression may add up: each sum copies what it adds. */
const TERMS_MAX = 32;
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
/** Those that find inputs of a request, and the variable that is known where a request is. */
const OF_REQUEST: ReadonlySet<string> = new Set(["input", "inputs"]);
const REQUEST = "params";
/** How many visits a call inside a macro counts for, because it goes through a whole text or list. */
const WEIGHTS: ReadonlyMap<string, number> = new Map([
  ...["replace", "split", "join"].map((name) => [name, 40] as const),
  // Lists of tables are short.
  ...["size", "lowerAscii", "upperAscii", "in tables"].map((name) => [name, 20] as const),
  ...["contains", "indexOf", "lastIndexOf", "startsWith", "endsWith", "trim"].map(
    (name) => [name, 4] as const,
  ),
  // A text is parsed or hashed; a list is searched.
  ...["json", "uuid", "in"].map((name) => [name, 100] as const),
]);
/** Methods that are ours: `split1000`, `join65536`, by the most that they give where they stand. */
const BOUNDED: ReadonlySet<string> = new Set(["split", "join", "replace"]);
/** Names that CEL itself brings along. */
const OWN_NAMES: ReadonlySet<string> = new Set([
  ...["optional", "int", "double", "string", "bool", "list", "map", "bytes", "uint", "null_type"],
]);

/** What an expression turned out to be made of. */
export interface Parts {
  /** The variables that it reads. */
  readonly names: ReadonlySet<string>;
  /** How often its nodes are visited at most. */
  readonly visits: number;
  /** How much of lists and texts it sees. */
  readonly seen: Seen;
  /** The same for what an upstream answered. */
  readonly ofAnswers: Seen;
}

/** The most that an expression sees of a list or mapping, and of a text. */
export interface Seen {
  readonly entries: number;
  readonly characters: number;
  /** Members that are null are not there. */
  readonly isWithoutNulls?: true;
}

interface Walk extends Parts {
  readonly allowed: ReadonlySet<string>;
  readonly names: Set<string>;
  /** Values that are added up anywhere. */
  readonly terms: number;
  /** Entries of the longest list that is written out. */
  readonly written: number;
  visits: number;
}

/** Where in the tree a node stands. */
interface Place {
  /** The variables that macros bind. */
  readonly bound: ReadonlySet<string>;
  readonly depth: number;
  /** How often a node is visited here at most. */
  readonly times: number;
}

const ALL: Seen = { entries: LIST_MAX, characters: TEXT_MAX };
const IN_MACROS: Seen = { entries: LIST_MAX, characters: MACRO_TEXT_MAX };
const IN_NESTED_MACROS: Seen = { entries: NESTED_LIST_MAX, characters: MACRO_TEXT_MAX };
const WITHOUT_NULLS: ReadonlyMap<Seen, Seen> = new Map(
  [ALL, IN_MACROS, IN_NESTED_MACROS].map((seen) => [seen, { ...seen, isWithoutNulls: true }]),
);

/**
 * Checks what a parsed expression is made of and how long it may take. Calls of `split`, `join` and
 * `replace` become calls of our own, which are bounded.
 *
 * @param allowed the variables that are known where the expression stands
 * @throws ExpressionError
 */
export function fence(ast: ASTNode, allowed: ReadonlySet<string>): Parts {
  const depth = macroDepth(ast);
  const seen = depth === 0 ? ALL : depth === 1 ? IN_MACROS : IN_NESTED_MACROS;
  // Upstreams say null where they have nothing to say, which is what an expression means that asks whether a member is there.
  const isNullAbsent = isAnywhere(ast, asksForPresence) && !isAnywhere(ast, saysNull);
  const terms = termsIn(ast);
  const walk: Walk = {
    ...{ allowed, names: new Set(), visits: 0 },
    ...{ seen, terms, written: longestList(ast) },
    ofAnswers: (isNullAbsent ? WITHOUT_NULLS.get(seen) : undefined) ?? seen,
  };
  if (terms > TERMS_MAX) throw new ExpressionError(`adds more than ${TERMS_MAX} values; use [a, b].join("")`);
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
    case "in": {
      const [, list] = node.args;
      if (list.op !== "list" && list.op !== "map") weigh(walk, isTable(list) ? "in tables" : "in", place);
      break;
    }
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

function isTable(node: ASTNode): boolean {
  return (
    (node.op === "." || node.op === "[]") &&
    ((node.args[0].op === "id" && node.args[0].args === "tables") || isTable(node.args[0]))
  );
}

/** Counts a call that goes through a whole text or list as more than one visit, where it is repeated. */
function weigh(walk: Walk, name: string, { depth, times }: Place): void {
  if (depth > 0) walk.visits += times * (WEIGHTS.get(name) ?? 0);
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

function visitCall(walk: Walk, name: string, given: readonly ASTNode[], node: ASTNode, place: Place): void {
  if (!FUNCTIONS.has(name)) {
    const near = suggest(name, [...FUNCTIONS]);
    const hint = near === undefined ? "" : `; did you mean "${near}"?`;
    throw new ExpressionError(`calls "${name}", which is no function here${hint}`, node.start);
  }
  if (OF_REQUEST.has(name) && !walk.allowed.has(REQUEST))
    throw new ExpressionError(`calls "${name}" where inputs of a request are not known`, node.start);
  weigh(walk, name, place);
  for (const each of given) visit(walk, each, place);
}

function visitMethod(walk: Walk, node: Extract<ASTNode, { op: "rcall" }>, place: Place): void {
  const [name, receiver, given] = node.args;
  visit(walk, receiver, place);
  if (MACROS.has(name)) visitMacro(walk, node, place);
  else visitCall(walk, name, given, node, place);
  // The library allows no other implementation of its own methods.
  const most = name === "split" ? walk.seen.entries : place.depth > 0 ? MACRO_TEXT_MAX : TEXT_MAX;
  if (BOUNDED.has(name)) (node.args as [string, ...unknown[]])[0] = `${name}${most}`;
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
  const inner = {
    bound: new Set([...bound, variable.args]),
    depth: depth + 1,
    times: times * entriesOf(walk, receiver),
  };
  for (const each of rest) visit(walk, each, inner);
}

/** How many values that are not written out a sum adds; 1 for what is no sum. */
function varyingTerms(node: ASTNode): number {
  if (node.op === "+") return varyingTerms(node.args[0]) + varyingTerms(node.args[1]);
  return node.op === "value" ? 0 : 1;
}

/** How many entries a list has at most that a macro goes through. */
function entriesOf(walk: Walk, list: ASTNode): number {
  if (list.op === "list") return list.args.length;
  if (list.op === "+") return entriesOf(walk, list.args[0]) + entriesOf(walk, list.args[1]);
  // An entry of another list may be a sum that is made elsewhere.
  const terms = list.op === "id" ? walk.terms : termsIn(list);
  return Math.max(walk.seen.entries, walk.written) * Math.max(1, terms);
}

/** How deep macros are inside each other. */
function macroDepth(node: ASTNode): number {
  if (node.op !== "rcall" || !MACROS.has(node.args[0]))
    return Math.max(0, ...childrenOf(node).map(macroDepth));
  const [, receiver, given] = node.args;
  return Math.max(macroDepth(receiver), 1 + Math.max(0, ...given.map(macroDepth)));
}

/** How many values that are not written out are added up. */
function termsIn(node: ASTNode): number {
  const within = childrenOf(node).reduce((sum, each) => sum + termsIn(each), 0);
  if (node.op !== "+") return within;
  const [left, right] = node.args;
  return within + [left, right].filter(({ op }) => op !== "+" && op !== "value").length;
}

function isAnywhere(node: ASTNode, isSo: (node: ASTNode) => boolean): boolean {
  return isSo(node) || childrenOf(node).some((each) => isAnywhere(each, isSo));
}

const asksForPresence = ({ op, args }: ASTNode) =>
  op === ".?" || op === "[?]" || (op === "call" && args[0] === "has");
const saysNull = ({ args }: ASTNode) => args === null || args === "null_type";

function longestList(node: ASTNode): number {
  const own = node.op === "list" ? node.args.length : 0;
  return Math.max(own, ...childrenOf(node).map(longestList));
}

function childrenOf(node: ASTNode): readonly ASTNode[] {
  switch (node.op) {
    case "value":
    case "id":
      return [];
    case ".":
    case ".?":
      return [node.args[0]];
    case "call":
      return node.args[1];
    case "rcall":
      return [node.args[1], ...node.args[2]];
    case "map":
      return node.args.flat();
    case "!_":
    case "-_":
      return [node.args];
    default:
      return node.args as readonly ASTNode[];
  }
}
