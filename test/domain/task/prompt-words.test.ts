import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  characterPairs,
  hasPhrase,
  promptWords,
  searchPhrases,
} from "../../../src/domain/task/prompt-words.ts";

test("words are told apart by anything but letters, digits and pictures, whatever their case and accents", () => {
  expect(promptWords("A Café-Racer, 1960s (35mm); naïve 🦊 ÅNGSTRÖM")).toEqual([
    ...["a", "cafe", "racer", "1960s", "35mm", "naive", "🦊", "angstrom"],
  ]);
  expect(promptWords("ｆｕｌｌ ﬁn")).toEqual(["full", "fin"]);
  expect(promptWords("Привет, мир! Ёлка")).toEqual(["привет", "мир", "елка"]);
  expect(promptWords("")).toEqual([]);
  // Punctuation that is also a picture, or of a script without spaces.
  expect(promptWords("a ‼ 〰 〽 ⁉ ๏ ។ ၊ b")).toEqual(["a", "b"]);
});

test("a text in a script without spaces is found by any part of it", () => {
  expect(promptWords("夕暮れの灯台 lighthouse")).toEqual(["夕", "暮", "れ", "の", "灯", "台", "lighthouse"]);
  expect(searchPhrases("灯台")).toEqual([["灯", "台"]]);
  expect(searchPhrases("灯台 夕")).toEqual([["灯", "台"], ["夕"]]);
  expect(searchPhrases("cat猫")).toEqual([["cat"], ["猫"]]);
  expect(searchPhrases("가을")).toEqual([["가", "을"]]);
});

test("the first 64 words of a search count, and the first 64 characters of a word", () => {
  expect(searchPhrases("a ".repeat(16_000))).toHaveLength(64);
  expect(searchPhrases("猫".repeat(32_000))).toEqual([Array.from({ length: 64 }, () => "猫")]);
  expect(promptWords("x".repeat(32_000))).toEqual(["x".repeat(64)]);
});

test("no word has a character that the index takes for something else", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 200 }), (text) => {
      expect(searchPhrases(text).flat().join("")).not.toMatch(/[\s\p{P}\p{Cc}\p{Z}"]/u);
    }),
  );
});

test("a prompt has the phrases of each of its parts", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 60 }), (text) => {
      const words = ` ${promptWords(text).join(" ")} `;
      for (const phrase of searchPhrases(text)) expect(words).toContain(` ${phrase.join(" ")} `);
    }),
  );
});

test("a prompt has a phrase only where its words are side by side, and each pair of characters in it", () => {
  const words = promptWords("夕暮れの灯台 a cat");
  expect(characterPairs(words).map((pair) => pair.join(""))).toEqual([
    "夕暮",
    "暮れ",
    "れの",
    "の灯",
    "灯台",
  ]);
  expect([hasPhrase(words, ["れ", "の", "灯"]), hasPhrase(words, ["れ", "灯"])]).toEqual([true, false]);
  // Every pair of this one is there, and the phrase is not.
  const others = promptWords("猫猫犬 猫犬犬");
  expect(hasPhrase(others, ["猫", "猫", "犬", "犬"])).toBe(false);
  // Parts of words are no words.
  const cats = promptWords("concatenated cats");
  expect(["cat", "cats"].map((word) => hasPhrase(cats, [word]))).toEqual([false, true]);
});
