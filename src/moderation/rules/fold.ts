type Ranges = readonly (readonly [first: number, last: number])[];

/**
 * Marks that the eye passes over: accents of Latin, Greek and Cyrillic, vowel points of Hebrew and Arabic. Vowel signs of Indic scripts and
 * the voicing marks of kana are letters in effect and stay.
 */
const ACCENTS: Ranges = [
  [0x300, 0x36f],
  [0x591, 0x5bd],
  [0x5bf, 0x5bf],
  [0x5c1, 0x5c2],
  [0x5c4, 0x5c5],
  [0x5c7, 0x5c7],
  [0x610, 0x61a],
  [0x64b, 0x65f],
  [0x670, 0x670],
  [0x1ab0, 0x1aff],
  [0x1dc0, 0x1dff],
  [0x20d0, 0x20ff],
  [0xfe20, 0xfe2f],
];
/** Characters without a look of their own, such as soft hyphens and zero-width spaces. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu;
const HANGUL = /[\uac00-\ud7a3]/;
const VOICED = /[\u3099\u309a]/;

/** Scripts that put no spaces between words, and Korean, which puts particles right behind them. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}\u3099\u309a\u30fc]/u;
const WORD = /[\p{L}\p{N}\p{M}]/u;

/**
 * Ranges of characters that are one with the next or the one before in NFKC: parts of Korean syllables, and voicing marks of kana. A text
 * that has some must be brought to NFKC before it is read one by one.
 */
const JOINING: Ranges = [
  [0x1100, 0x11ff],
  [0x3099, 0x309a],
  [0x3131, 0x318e],
  [0x3200, 0x321e],
  [0x3260, 0x327e],
  [0xa960, 0xa97f],
  [0xd7b0, 0xd7ff],
  [0xff9e, 0xffdc],
];

export function isJoining(point: number): boolean {
  return isIn(JOINING, point);
}

function isIn(ranges: Ranges, point: number): boolean {
  return ranges.some(([first, last]) => point >= first && point <= last);
}

/** Whether a character is part of a word between spaces. */
export function isOfSpacedWord(character: string): boolean {
  return WORD.test(character) && !UNSPACED.test(character);
}

/**
 * A character without its case, accents, width and other looks: `É`, `é`, `ｅ` and `𝐞` are all `e`, and `ß` is `ss`. Empty for what is not
 * seen. What a text is folded to is what its characters are, unless some of them join.
 */
export function foldCharacter(character: string): string {
  if (/\s/u.test(character)) return " ";
  if (HANGUL.test(character)) return character;
  const lower = character.normalize("NFKD").toLowerCase().toUpperCase().toLowerCase();
  const seen = Array.from(lower.normalize("NFKD").replace(INVISIBLE, ""));
  const bare = seen.filter((each) => !isIn(ACCENTS, each.codePointAt(0) ?? 0)).join("");
  return VOICED.test(bare) ? bare.normalize("NFC") : bare;
}

/** A text as patterns read it: in NFKC, without what is not seen. */
export function plainText(text: string): string {
  return isAscii(text) ? text : text.normalize("NFKC").replace(INVISIBLE, "");
}

function isAscii(text: string): boolean {
  return Buffer.byteLength(text) === text.length;
}
