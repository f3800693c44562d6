import { expect, test } from "bun:test";
import { createTellWord } from "../../../src/providers/declared/unknown-words.ts";

/** What is told of these words, as `WORD COUNT`. */
function told(words: readonly string[]): string[] {
  const lines: string[] = [];
  const tell = createTellWord("house", {
    warn: (fields) => void lines.push(`${String(fields.word)} ${String(fields.count)}`),
  });
  for (const word of words) tell(word);
  return lines;
}

test("a word that stays is told at its 1st, 10th and 100th time", () => {
  expect(told(Array(150).fill("resting"))).toEqual(["resting 1", "resting 10", "resting 100"]);
});

test("of more than a hundred words no more is said, but of those that were told", () => {
  const words = Array.from({ length: 1_000 }, (_, i) => `word-${i}`);
  const lines = told([...words, ...Array(9).fill("word-0")]);
  expect(lines).toEqual([...words.slice(0, 100).map((word) => `${word} 1`), "word-0 10"]);
});

test("a long word is told by its beginning", () => {
  expect(told(["a".repeat(1_000)])).toEqual([`${"a".repeat(80)} 1`]);
});
