/** Writing systems without spaces between words, or with long compounds: each character counts as a word. */
const UNSPACED =
  "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}";
const WORD = new RegExp(
  `[[${UNSPACED}]--\\p{P}]|[\\p{Extended_Pictographic}--\\p{P}]|[[\\p{L}\\p{N}\\p{M}]--[${UNSPACED}]]+`,
  "gv",
);
const CHARACTER = new RegExp(`^[${UNSPACED}]$`, "v");
/** Accents of Latin, Greek and Cyrillic letters. Marks of other scripts distinguish words, so they stay. */
const ACCENTS = /[\u0300-\u036f]/g;

/** Longer words are indexed only by their first characters. */
const WORD_LENGTH = 64;
/** Most words of a search that count. */
const MOST_WORDS = 64;

/** A word and its place in the text. */
interface Place {
  readonly word: string;
  readonly from: number;
  readonly to: number;
}

function placesOf(text: string): Place[] {
  const plain = text.normalize("NFKD").replace(ACCENTS, "").normalize("NFC").toLowerCase();
  return Array.from(plain.matchAll(WORD), ({ 0: word, index }) => ({
    word: word.slice(0, WORD_LENGTH),
    from: index,
    to: index + word.length,
  }));
}

/** The words by which a prompt is found, in their order, without case, accents and punctuation. */
export function promptWords(prompt: string): string[] {
  return placesOf(prompt).map(({ word }) => word);
}

/**
 * Every pair of adjacent characters that are words, in their order. An index of words without positions uses the pairs to find
 * prompts that may contain a phrase.
 */
export function characterPairs(words: readonly string[]): (readonly [string, string])[] {
  return words.flatMap((word, i) => {
    const next = words[i + 1];
    return next !== undefined && CHARACTER.test(word) && CHARACTER.test(next) ? [[word, next]] : [];
  });
}

/** Whether words contain those of a phrase, one after the other. */
export function hasPhrase(words: readonly string[], phrase: readonly string[]): boolean {
  // No word has a space. To compare them one by one takes ten times as long where much is alike.
  return ` ${words.join(" ")} `.includes(` ${phrase.join(" ")} `);
}

/**
 * The phrases that a prompt must contain to be found. A phrase is a sequence of words. In scripts without spaces, adjacent
 * characters form one phrase. The text consists of words only; there are no operators. The first 64 words count.
 *
 * @returns none for a text without words, which finds nothing
 */
export function searchPhrases(text: string): string[][] {
  const phrases: string[][] = [];
  let before: Place | undefined;
  for (const place of placesOf(text).slice(0, MOST_WORDS)) {
    const goesOn = before?.to === place.from && CHARACTER.test(before.word) && CHARACTER.test(place.word);
    if (goesOn) phrases.at(-1)?.push(place.word);
    else phrases.push([place.word]);
    before = place;
  }
  return phrases;
}
