import type { Document, LineCounter, Node, YAMLError } from "yaml";
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
    /** The message may quote what stands there. */
    readonly isQuoting = false,
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
  /** Reads it as the YAML 1.1 of other programs: `<<` merges mappings, and aliases are as many as a program that writes YAML makes. */
  readonly isOfOthers?: boolean | undefined;
}

type Library = typeof import("yaml");

/** How often one anchor may be repeated, counting aliases inside aliases. Enough for a person, too little for a bomb. */
const MAX_ALIASES = 50;
/** How many aliases a text may have in all: the library goes through all of them to find what one stands for. */
const MOST_ALIASES = 200;
const MOST_ALIASES_OF_OTHERS = 10_000;
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
export function readYaml(text: string, { maxBytes, isOfOthers = false }: YamlOptions = {}): Yaml {
  if (maxBytes !== undefined && Buffer.byteLength(text) > maxBytes) {
    throw new YamlError(`larger than ${maxBytes} bytes`, START);
  }
  const value = readQuickly(text);
  if (value === UNSURE) return readWithPlaces(text, isOfOthers);
  let places: Yaml | undefined;
  return {
    value,
    positionOf(path, part) {
      places ??= readWithPlaces(text, isOfOthers);
      return places.positionOf(path, part);
    },
  };
}

function readWithPlaces(text: string, isOfOthers: boolean): Yaml {
  const library = require("yaml") as Library;
  const lines = new library.LineCounter();
  const document = library.parseDocument(text, {
    lineCounter: lines,
    stringKeys: true,
    uniqueKeys: true,
    prettyErrors: false,
    merge: isOfOthers,
    // Below this level the library does not report a second document.
    logLevel: "error",
  });
  const fault = document.errors[0] ?? document.warnings[0];
  if (fault !== undefined) {
    const known = MESSAGES[fault.code];
    throw new YamlError(known ?? fault.message, positionAt(lines, fault.pos[0]), known === undefined);
  }
  checkDepth(library, document.contents, lines);
  const most = isOfOthers ? MOST_ALIASES_OF_OTHERS : MOST_ALIASES;
  const firstAlias = checkAliases(library, document, lines, most);
  return {
    value: plain(document, firstAlias ?? START, isOfOthers ? most : MAX_ALIASES),
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
function checkAliases(
  library: Library,
  document: Document,
  lines: LineCounter,
  most: number,
): Position | undefined {
  let first: Position | undefined;
  let count = 0;
  // An anchor may be given again: the latest one before an alias counts.
  const anchors = new Map<string, Node>();
  library.visit(document, {
    Node(_key, node, ancestors) {
      if (!library.isAlias(node)) {
        if (node.anchor !== undefined) anchors.set(node.anchor, node);
        return;
      }
      const position = positionAt(lines, node.range?.[0]);
      first ??= position;
      if (++count > most) throw new YamlError(`more than ${most} aliases`, position);
      const target = anchors.get(node.source);
      if (target === undefined) throw new YamlError(`no anchor "${node.source}" before this alias`, position);
      if (ancestors.includes(target)) throw new YamlError(`"${node.source}" contains itself`, position);
    },
  });
  return first;
}

function plain(document: Document, firstAlias: Position, maxAliasCount: number): unknown {
  try {
    return document.toJS({ maxAliasCount });
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
