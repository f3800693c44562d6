import type { Alias, Document, LineCounter, Node, YAMLError } from "yaml";
import { readQuickly, UNSURE } from "./quick-yaml.ts";

/** A place in a text, both counted from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** Text that is not YAML, or is YAML of a kind that is refused. The message does not name the position. */
export class YamlError extends Error {
  override readonly name = "YamlError";
  constructor(
    message: string,
    readonly position: Position,
  ) {
    super(message);
  }
}

/** Where a member stands in its mapping: its name, or what follows it. */
export type Part = "key" | "value";

export interface Yaml {
  /** Plain objects, lists, strings, numbers, booleans and null. */
  readonly value: unknown;
  /**
   * Where the value at a path is written, or the key that leads to it. For a path that does not exist, the place of its nearest
   * existing ancestor.
   */
  positionOf(path: readonly (string | number)[], part?: Part): Position;
}

export interface YamlOptions {
  /** Refuses a longer text, in UTF-8. */
  readonly maxBytes?: number | undefined;
}

type Library = typeof import("yaml");

/** How often one anchor may be repeated, counting aliases inside aliases. Enough for a person, too little for a bomb. */
const MAX_ALIASES = 50;
/** How many aliases a text may have in all: finding what each stands for goes through the text. */
const MOST_ALIASES = 200;
/** How deep collections may lie in each other. The library copies the way to each node that it visits, which takes seconds with thousands. */
const MOST_DEPTH = 200;
const TOO_DEEP = "nested too deeply";
const START: Position = { line: 1, column: 1 };

/** What the library says in terms of its own API. */
const MESSAGES: Partial<Record<YAMLError["code"], string>> = {
  DUPLICATE_KEY: "this key is already in the same mapping",
  MULTIPLE_DOCS: "a second document begins here; only one is read",
  NON_STRING_KEY: "a key must be text",
  RESOURCE_EXHAUSTION: TOO_DEEP,
};

/**
 * Reads one YAML document (1.2, core schema) and finds where everything stands. The parser is loaded for what is no plain YAML, and when
 * a place is asked for.
 *
 * @throws YamlError for a syntax error, a duplicate key, a key that is not text, an unknown tag or directive, more than one
 *   document, an alias that is unknown, contains itself or is repeated too often, and a text over `maxBytes`
 */
export function readYaml(text: string, { maxBytes }: YamlOptions = {}): Yaml {
  if (maxBytes !== undefined && Buffer.byteLength(text) > maxBytes) {
    throw new YamlError(`larger than ${maxBytes} bytes`, START);
  }
  const value = readQuickly(text);
  if (value === UNSURE) return readWithPlaces(text);
  let places: Yaml | undefined;
  return {
    value,
    positionOf(path, part) {
      places ??= readWithPlaces(text);
      return places.positionOf(path, part);
    },
  };
}

function readWithPlaces(text: string): Yaml {
  const library = require("yaml") as Library;
  const lines = new library.LineCounter();
  const document = library.parseDocument(text, {
    lineCounter: lines,
    stringKeys: true,
    uniqueKeys: true,
    prettyErrors: false,
    // Below this level the library does not report a second document.
    logLevel: "error",
  });
  const fault = document.errors[0] ?? document.warnings[0];
  if (fault !== undefined) {
    throw new YamlError(MESSAGES[fault.code] ?? fault.message, positionAt(lines, fault.pos[0]));
  }
  checkDepth(library, document.contents, lines);
  const firstAlias = checkAliases(library, document, lines);
  return {
    value: plain(document, firstAlias ?? START),
    positionOf: (path, part = "value") => positionAt(lines, offsetOf(library, document, path, part)),
  };
}

function checkDepth(library: Library, node: unknown, lines: LineCounter, depth = 0): void {
  if (library.isPair(node)) {
    checkDepth(library, node.key, lines, depth);
    checkDepth(library, node.value, lines, depth);
  } else if (library.isCollection(node)) {
    if (depth === MOST_DEPTH) throw new YamlError(TOO_DEEP, positionAt(lines, node.range?.[0]));
    for (const item of node.items) checkDepth(library, item, lines, depth + 1);
  }
}

/** @returns where the first alias is */
function checkAliases(library: Library, document: Document, lines: LineCounter): Position | undefined {
  let first: Position | undefined;
  let count = 0;
  library.visit(document, {
    Alias(_key, alias: Alias, ancestors) {
      const position = positionAt(lines, alias.range?.[0]);
      first ??= position;
      if (++count > MOST_ALIASES) throw new YamlError(`more than ${MOST_ALIASES} aliases`, position);
      const target = alias.resolve(document);
      if (target === undefined)
        throw new YamlError(`no anchor "${alias.source}" before this alias`, position);
      if (ancestors.includes(target)) throw new YamlError(`"${alias.source}" contains itself`, position);
    },
  });
  return first;
}

function plain(document: Document, firstAlias: Position): unknown {
  try {
    return document.toJS({ maxAliasCount: MAX_ALIASES });
  } catch (error) {
    if (error instanceof RangeError) throw new YamlError(TOO_DEEP, START);
    throw new YamlError("an alias is repeated too often", firstAlias);
  }
}

function offsetOf(
  { isAlias, isMap, isScalar, isSeq }: Library,
  document: Document,
  path: readonly (string | number)[],
  part: Part,
): number | undefined {
  // The parser makes nodes, whatever the types of the library allow.
  let node = document.contents as Node | null | undefined;
  let offset = node?.range?.[0];
  for (const [depth, step] of path.entries()) {
    if (isAlias(node)) node = node.resolve(document);
    let key: Node | undefined;
    if (isMap(node)) {
      const pair = node.items.find((each) => isScalar(each.key) && each.key.value === String(step));
      key = pair?.key as Node | undefined;
      node = pair?.value as Node | null | undefined;
    } else if (isSeq(node)) node = node.items[Number(step)] as Node | undefined;
    else return offset;
    const wanted = part === "key" && depth === path.length - 1 ? (key ?? node) : (node ?? key);
    if (wanted?.range == null) return offset;
    offset = wanted.range[0];
  }
  return offset;
}

function positionAt(lines: LineCounter, offset = 0): Position {
  const { line, col } = lines.linePos(offset);
  // The counter knows no line before the first one is read, as in an empty text.
  return line === 0 ? START : { line, column: col };
}
