import { foldCharacter, isOfSpacedWord } from "./fold.ts";

/** Symbols: where a word begins or ends; white space; what no text to find has, in a word and elsewhere. Those of characters follow. */
export const [EDGE, SPACE, OTHER, OTHER_OF_WORD] = [0, 1, 2, 3];

/** So many characters, the most frequent ones, are one symbol each. */
const SINGLE = 64;
/** Others are two symbols each, so that there are few symbols however many characters there are: their place in a row, after the row. */
const ROW = 64;
/** Most kinds of characters. */
const MOST_CHARACTERS = 30_000;

/** Texts to find take more memory than is meant for them. The message says what there is too much of, as a sentence without its full stop. */
export class TooManyRules extends Error {
  override readonly name = "TooManyRules";
}

/** The symbols of all characters of texts to find. */
export interface Alphabet {
  /** How many symbols there are. */
  readonly size: number;
  /** 1 for each symbol that belongs to a word between spaces, else 0. */
  readonly ofWord: Uint8Array;
  /** One symbol, or two. */
  readonly symbolsOf: (folded: string) => readonly number[];
}

/** @throws TooManyRules when there are too many kinds of characters */
export function createAlphabet(texts: readonly string[]): Alphabet {
  const characters = byFrequency(texts);
  const rest = Map.groupBy(characters.slice(SINGLE), isOfSpacedWord);
  const symbols = new Map([[" ", [SPACE]]]);
  const ofWord = [0, 0, 0, 1];
  for (const character of characters.slice(0, SINGLE)) {
    symbols.set(character, [ofWord.length]);
    ofWord.push(isOfSpacedWord(character) ? 1 : 0);
  }
  // No row has both kinds, so that each symbol belongs to words, or none.
  for (const [isOfWord, members] of rest) {
    const firstRow = ofWord.length;
    const firstPlace = firstRow + Math.ceil(members.length / ROW);
    for (const [i, character] of members.entries())
      symbols.set(character, [firstRow + Math.floor(i / ROW), firstPlace + (i % ROW)]);
    const size = firstPlace + Math.min(ROW, members.length);
    while (ofWord.length < size) ofWord.push(isOfWord ? 1 : 0);
  }
  const [other, otherOfWord] = [[OTHER], [OTHER_OF_WORD]];
  return {
    size: ofWord.length,
    ofWord: Uint8Array.from(ofWord),
    symbolsOf: (folded) => symbols.get(folded) ?? (isOfSpacedWord(folded) ? otherOfWord : other),
  };
}

function byFrequency(texts: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const text of texts)
    for (const character of text.normalize("NFKC"))
      for (const folded of foldCharacter(character)) counts.set(folded, (counts.get(folded) ?? 0) + 1);
  counts.delete(" ");
  if (counts.size > MOST_CHARACTERS)
    throw new TooManyRules(`they have more than ${MOST_CHARACTERS} kinds of characters`);
  return [...counts].sort(([, a], [, b]) => b - a).map(([character]) => character);
}
