import { expect, test } from "bun:test";
import fc from "fast-check";
import { createFinder } from "../../../src/moderation/rules/finder.ts";
import { plainText } from "../../../src/moderation/rules/fold.ts";
import { type Pattern, readPattern } from "../../../src/moderation/rules/pattern.ts";

function pattern(text: string): Pattern {
  const read = readPattern(text);
  if (typeof read === "string") throw new Error(read);
  return read;
}

test.each<[string, readonly string[]]>([
  ["nude", ["nude"]],
  ["(?i)nude", ["nude"]],
  [String.raw`\bnude\b.*\bphoto`, ["photo"]],
  [String.raw`bomb\s+\d+`, ["bomb"]],
  ["(foo|bar) baz", [" baz"]],
  ["foo|quux", ["foo", "quux"]],
  ["[a-z]+", []],
  [String.raw`\d{16}`, []],
  ["foo|[0-9]", []],
  ["(?:a|b)", []],
])("where %p occurs, one of %p does", (text, literals) => {
  expect(pattern(text).literals).toEqual(literals);
});

test.each([
  ["nude", "NUDE", true],
  ["(?-i)nude", "NUDE", false],
  ["(?-i)nude", "nude", true],
  ["café", "CAFE\u0301", true],
  ["nude", "ｎｕｄｅ", true],
  ["nude", "nu\u200bde", true],
  [String.raw`^\d+$`, "a 1", false],
])("%p occurs in %p: %p", (text, given, expected) => {
  expect(pattern(text).occursIn(plainText(given))).toBe(expected);
});

test.each([
  ["(", "is no pattern (RE2 syntax): missing closing )"],
  ["a(?=b)", "is no pattern (RE2 syntax): invalid or unsupported Perl syntax: (?="],
  [String.raw`(a)\1`, String.raw`is no pattern (RE2 syntax): invalid escape sequence: \1`],
  ["a{2000}", "is no pattern (RE2 syntax): invalid repeat count: {2000}"],
  ["a*", "matches the empty text, and so every text"],
])("of %p it is said that it %s", (text, problem) => {
  expect(readPattern(text)).toBe(problem);
});

test("a text that a backtracking search never ends on is searched at once", () => {
  expect(pattern("(a+)+$").occursIn(`${"a".repeat(100_000)}!`)).toBe(false);
});

test("in every text where a pattern occurs, one of its literals is found", () => {
  const piece = fc.constantFrom(
    "ab",
    "Straße",
    "ǅ",
    "ſk",
    "σς",
    "K",
    "[xy]",
    "x+",
    "(?:ab|cd)",
    ".",
    "ガ",
    "각",
  );
  const given = fc.constantFrom(..."abABxyÀſsSKkσςΣßẞǅǆ ガｶﾞ각cd", "STRASSE", "straße", "ﬀ");
  const texts = fc.array(given, { maxLength: 12 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(fc.array(piece, { minLength: 1, maxLength: 3 }), texts, (pieces, text) => {
      const { occursIn, literals } = pattern(pieces.join(""));
      if (literals.length === 0 || !occursIn(plainText(text))) return;
      let isFound = false;
      const wanted = literals.map((literal) => ({ text: literal, isWhole: false }));
      createFinder(wanted).find(text, () => {
        isFound = true;
        return true;
      });
      expect(isFound).toBe(true);
    }),
    { numRuns: 5_000 },
  );
});
