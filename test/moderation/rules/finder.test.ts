import { expect, test } from "bun:test";
import fc from "fast-check";
import { createFinder, type Wanted } from "../../../src/moderation/rules/finder.ts";
import { foldCharacter, isOfSpacedWord } from "../../../src/moderation/rules/fold.ts";

function found(wanted: readonly Wanted[], text: string): readonly number[] {
  const indexes = new Set<number>();
  createFinder(wanted).find(text, (index) => {
    indexes.add(index);
    return false;
  });
  return [...indexes].sort((a, b) => a - b);
}

const whole = (...texts: string[]): Wanted[] => texts.map((text) => ({ text, isWhole: true }));
const isFound = (word: string, text: string) => found(whole(word), text).length === 1;

test.each([
  ["nude", "a NUDE!"],
  ["nude", "nude"],
  ["nude", "(nüdé)"],
  ["nude", "nu\u0308de\u0301"],
  ["nude", "ｎｕｄｅ"],
  ["nude", "𝐧𝐮𝐝𝐞"],
  ["nude", "n\u00adu\u200bde"],
  ["nude", "nude_photo"],
  ["nude", "nude写真"],
  ["straße", "STRASSE"],
  ["ΟΔΟΣ", "οδός"],
  ["ёлка", "ЕЛКА"],
  ["bad thing", "a bad \t\n  thing"],
  ["f*ck", "oh f*ck it"],
  ["c++", "i like c++ code"],
  ["写真", "裸の写真です"],
  ["욕설", "욕설은"],
  ["가", "ㄱㅏ"],
  ["ガス", "ｶﾞｽ"],
  ["が", "か\u3099"],
  ["كتاب", "كِتَاب"],
  ["😀", "a😀b"],
  ["office", "oﬃce"],
])("%p is found in %p", (word, text) => {
  expect(isFound(word, text)).toBe(true);
});

test.each([
  ["nude", "nudes"],
  ["nude", "denude"],
  ["nude", "nu de"],
  ["nude", "nude2"],
  ["bad thing", "bad, thing"],
  ["bad thing", "badthing"],
  ["c++", "c+"],
  ["가", "각"],
  ["か", "が"],
  ["hindi कि", "hindi का"],
])("%p is not found in %p", (word, text) => {
  expect(isFound(word, text)).toBe(false);
});

test("of words within one another, each that is whole is found", () => {
  expect(found(whole("bad", "bad thing", "thing", "thin"), "a bad thing")).toEqual([0, 1, 2]);
});

test("part of a word is found where a text need not be whole", () => {
  expect(found([{ text: "ude", isWhole: false }], "NUDES")).toEqual([0]);
});

test("equal texts are each found", () => {
  expect(found(whole("nude", "NUDE"), "nude")).toEqual([0, 1]);
});

test("a text of which nothing is seen is named and never found", () => {
  const finder = createFinder(whole("\u200b", "nude"));
  expect(finder.empty).toEqual([0]);
  expect(found(whole("\u200b"), "\u200b \u200b")).toEqual([]);
});

test("nothing more is looked for once a finding says to stop", () => {
  let count = 0;
  createFinder(whole("a")).find("a a a", () => {
    count += 1;
    return true;
  });
  expect(count).toBe(1);
});

test("a text is read anew, however long the one before it was", () => {
  const { find } = createFinder(whole("nude"));
  for (const [text, expected] of [
    ["ß".repeat(40_000), 0],
    [`${"x ".repeat(40_000)}nude`, 1],
    ["nud", 0],
    ["nude", 1],
  ] as const) {
    let count = 0;
    find(text, () => {
      count += 1;
      return false;
    });
    expect(count).toBe(expected);
  }
});

test("more words than a table may hold are refused", () => {
  const letters = Array.from({ length: 20_000 }, (_, i) => String.fromCharCode(0x4e00 + i));
  const second = (i: number) => letters[(i * 7 + Math.floor(i / 20_000)) % 20_000];
  const words = Array.from({ length: 40_000 }, (_, i) => `${letters[i % 20_000]}${second(i)}`);
  expect(() => createFinder(whole(...words))).toThrow("more than 256 MB");
});

/** What a slow search over folded characters finds. */
function foundSlowly(wanted: readonly Wanted[], text: string): readonly number[] {
  const fold = (given: string) =>
    [...given.normalize("NFKC")]
      .flatMap((character) => [...foldCharacter(character)])
      .filter((character, i, all) => character !== " " || all[i - 1] !== " ");
  const all = fold(text);
  const isOfWord = (character: string | undefined) => character !== undefined && isOfSpacedWord(character);
  return wanted.flatMap(({ text: word, isWhole }, index) => {
    const part = fold(word);
    const isAt = (start: number) =>
      part.every((character, i) => all[start + i] === character) &&
      (!isWhole ||
        ((!isOfWord(part[0]) || !isOfWord(all[start - 1])) &&
          (!isOfWord(part.at(-1)) || !isOfWord(all[start + part.length]))));
    return all.some((_, start) => isAt(start)) ? [index] : [];
  });
}

test("it finds what a slow search finds", () => {
  const character = fc.constantFrom(..."aAbéßﬁ -*写真がカﾞ각😀𝐚\u0301");
  const text = (minLength: number, maxLength: number) =>
    fc.array(character, { minLength, maxLength }).map((characters) => characters.join(""));
  const word = text(1, 4).filter((each) => each.replaceAll("\u0301", "") !== "" && each.trim() === each);
  const wanted = fc.array(fc.record({ text: word, isWhole: fc.boolean() }), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(wanted, text(0, 30), (words, given) => {
      expect(found(words, given)).toEqual(foundSlowly(words, given));
    }),
    { numRuns: 2_000 },
  );
});

test("it finds what a slow search finds among hundreds of kinds of characters", () => {
  const character = fc
    .integer({ min: 0, max: 299 })
    .map((i) => String.fromCharCode((i % 2 ? 0x4e00 : 0x400) + i));
  const text = (maxLength: number) =>
    fc.array(character, { minLength: 1, maxLength }).map((characters) => characters.join(""));
  const wanted = fc.array(fc.record({ text: text(3), isWhole: fc.boolean() }), {
    minLength: 100,
    maxLength: 200,
  });
  fc.assert(
    fc.property(wanted, text(200), (words, given) => {
      expect(found(words, given)).toEqual(foundSlowly(words, given));
    }),
    { numRuns: 50 },
  );
});
