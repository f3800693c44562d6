import { createAlphabet, EDGE, SPACE, TooManyRules } from "./alphabet.ts";
import { createReader } from "./reader.ts";

/** A text to find, whatever its case, accents and width. A run of white space is one space. */
export interface Wanted {
  readonly text: string;
  /** Only as a whole: where its ends belong to words between spaces, these end there too. */
  readonly isWhole: boolean;
}

/** Finds many texts in one. */
export interface Finder {
  /** Calls `onFound` with the index of each that is found, as often as it is, until that returns true. */
  readonly find: (text: string, onFound: (index: number) => boolean) => void;
  /** Indexes of texts that cannot be found, because they have nothing that is seen. */
  readonly empty: readonly number[];
}

/** Bounds the table of steps to 256 MB. */
const MOST_STEPS = 64 * 1024 * 1024;

/** A beginning of texts to find (Aho and Corasick). */
interface Node {
  readonly children: Map<number, Node>;
  /** The last symbol that led here. */
  readonly symbol: number;
  /** Indexes of the texts that end here. */
  found: readonly number[];
  /** Its place among all nodes. */
  index: number;
}

const newNode = (symbol: number): Node => ({ children: new Map(), symbol, found: [], index: 0 });

/**
 * Creates what finds many texts in one pass, with one look-up for each symbol of the text.
 *
 * @throws TooManyRules
 */
export function createFinder(wanted: readonly Wanted[]): Finder {
  const alphabet = createAlphabet(wanted.map(({ text }) => text));
  const { ofWord, size } = alphabet;
  const read = createReader(alphabet);
  const entries = wanted.map(({ text, isWhole }) => {
    const { symbols, count } = read(text.normalize("NFKC"));
    return entryOf([...symbols.subarray(0, count)], ofWord, isWhole);
  });
  const { steps, found } = stepsOf(plant(entries), size);

  function find(text: string, onFound: (index: number) => boolean): void {
    const { symbols, count } = read(text);
    let row = 0;
    let isInWord = 0;
    for (let i = 0; i < count; i++) {
      const symbol = symbols[i] as number;
      const isOfWord = ofWord[symbol] as number;
      const isEdge = isOfWord ^ isInWord;
      isInWord = isOfWord;
      const to = steps[row + symbol + isEdge * size] as number;
      if (to < 0) {
        const atEdge = isEdge === 1 ? found.get(rowOf(steps[row + EDGE] as number)) : undefined;
        if (atEdge?.some(onFound) || found.get(~to)?.some(onFound)) return;
      }
      row = rowOf(to);
    }
  }
  return { find, empty: entries.flatMap((entry, index) => (entry.length === 0 ? [index] : [])) };
}

/** The symbols of a text with the edges between them, as `find` goes through them. */
function entryOf(symbols: readonly number[], ofWord: Uint8Array, isWhole: boolean): readonly number[] {
  const entry: number[] = [];
  let isInWord = 0;
  // The last symbol stands for the end.
  const end = symbols.length - 1;
  for (const [i, symbol] of symbols.entries()) {
    if (ofWord[symbol] !== isInWord) {
      isInWord = 1 - isInWord;
      if (isWhole || (i > 0 && i < end)) entry.push(EDGE);
    }
    if (i < end && !(symbol === SPACE && entry.at(-1) === SPACE)) entry.push(symbol);
  }
  return entry;
}

/** @returns all beginnings of entries, the shorter ones first */
function plant(entries: readonly (readonly number[])[]): readonly Node[] {
  const root = newNode(EDGE);
  for (const [index, entry] of entries.entries()) {
    let node = root;
    for (const symbol of entry) node = node.children.getOrInsertComputed(symbol, newNode);
    if (node !== root) node.found = [...node.found, index];
  }
  const nodes = [root];
  for (const { children } of nodes)
    for (const child of children.values()) {
      child.index = nodes.length;
      // The loop goes on with it.
      nodes.push(child);
    }
  return nodes;
}

/**
 * Where each symbol leads from each node: to the row of the longest beginning that what was read ends with. Rows have a second half, of where a
 * symbol leads right after an edge. What leads to texts that end is complemented; `found` has them by row.
 */
function stepsOf(nodes: readonly Node[], size: number) {
  const width = 2 * size;
  if (nodes.length * width > MOST_STEPS) throw new TooManyRules("their table would take more than 256 MB");
  const steps = new Int32Array(nodes.length * width);
  const found = new Map<number, readonly number[]>();
  /** By node: the row of the longest end of what led there that begins a text too. */
  const fallbacks = new Int32Array(nodes.length);
  for (const { index, children } of nodes) {
    const row = index * width;
    const fallback = fallbacks[index] as number;
    if (row > 0) steps.copyWithin(row, fallback, fallback + size);
    for (const [symbol, child] of children) {
      const other = row === 0 ? 0 : rowOf(steps[fallback + symbol] as number);
      fallbacks[child.index] = other;
      const all = [...child.found, ...(found.get(other) ?? [])];
      const to = child.index * width;
      if (all.length > 0) found.set(to, all);
      steps[row + symbol] = all.length > 0 ? ~to : to;
    }
  }
  for (const { index, symbol } of nodes) if (symbol === SPACE) steps[index * width + SPACE] = index * width;
  for (const { index } of nodes) addEdges(steps, index * width, size);
  return { steps, found };
}

/** Fills the second half of a row. */
function addEdges(steps: Int32Array, row: number, size: number): void {
  const edge = steps[row + EDGE] as number;
  const from = rowOf(edge);
  for (let symbol = 0; symbol < size; symbol++) {
    const to = steps[from + symbol] as number;
    steps[row + size + symbol] = edge < 0 && to >= 0 ? ~to : to;
  }
}

const rowOf = (step: number): number => (step < 0 ? ~step : step);
