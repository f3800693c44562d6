/** Writing systems without spaces between words, or with long compounds: each character counts as a word. */
const UNSPACED =
  "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}";
const WORD = new RegExp(
  `[${UNSPACED}]|\\p{Extended_Pictographic}|[[\\p{L}\\p{N}\\p{M}]--[${UNSPACED}]]+`,
  "gv",
);
const CHARACTER = new RegExp(`^[${UNSPACED}]$`, "v");
/** Accents of Latin, Greek and Cyrillic letters. Marks of other scripts tell words apart. */
const ACCENTS = /[\u0300-\u036f]/g;

/** The beginning of a longer word stands for it. */
const WORD_LENGTH = 64;
/** Words of a search that count. */
const MOST_WORDS = 64;

/** A word, and where it is in its text. */
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

/** The words of a prompt by which it is found, in their order: without case, accents and punctuation. */
export function promptWords(prompt: string): string[] {
  return placesOf(prompt).map(({ word }) => word);
}

/**
 * Each two characters that are words and follow one another, in their order: an index of words without their places finds by them what
 * may have a phrase.
 */
export function characterPairs(words: readonly string[]): (readonly [string, string])[] {
  return words.flatMap((word, i) => {
    const next = words[i + 1];
    return next !== undefined && CHARACTER.test(word) && CHARACTER.test(next) ? [[word, next]] : [];
  });
}

/** Whether words have those of a phrase one after the other. */
export function hasPhrase(words: readonly string[], phrase: readonly string[]): boolean {
  return words.some((_, i) => phrase.every((word, place) => words[i + place] === word));
}

/**
 * What a prompt must have to be found: each phrase, which is its words one after the other. In scripts without spaces, characters side by side are one
 * phrase. No text is anything but words: there are no operators. The first 64 words count.
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
