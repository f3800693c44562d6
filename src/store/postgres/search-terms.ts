import { characterPairs, promptWords, searchPhrases } from "../../domain/task/prompt-words.ts";
import { tagsOf } from "../sqlite/search-store.ts";

/**
 * Tasks of numbers that follow one another. Each has the term of its slice, so that the index finds the tasks with some words
 * in a few slices without reading other tasks with these words.
 */
export const SLICE = 8_192;

type Tags = Parameters<typeof tagsOf>[0];

// Words are letters, digits and pictures, so that no other term is one. Half a character, where a long word was cut, has no bytes.
const tagTerms = (of: Tags): string[] => tagsOf(of).map((tag) => `=${tag}`);
const wordTerms = (words: readonly string[]): string[] => [
  ...words.map((word) => word.toWellFormed()),
  ...characterPairs(words).map((pair) => pair.join(" ")),
];
export const sliceTerm = (slice: number): string => `#${slice}`;
export const sliceOf = (number: number): number => Math.floor(number / SLICE);

/** The terms by which a task is found; none if its prompt has no words. */
export function termsOf(number: number, prompt: string, of: Required<Tags>): string[] {
  const words = promptWords(prompt);
  if (words.length === 0) return [];
  return [...new Set([sliceTerm(sliceOf(number)), ...tagTerms(of), ...wordTerms(words)])];
}

/** A query of the index. */
export interface Asked {
  readonly terms: readonly string[];
  /** Phrases that must be checked in the prompt, because a prompt may have all their terms without the phrase. */
  readonly phrases: readonly (readonly string[])[];
}

/** Undefined if nothing can match. */
export function askedIn(text: string, of: Tags): Asked | undefined {
  const phrases = searchPhrases(text);
  if (phrases.length === 0) return undefined;
  return {
    terms: [...new Set([...tagTerms(of), ...phrases.flatMap(wordTerms)])],
    phrases: phrases.filter(({ length }) => length > 2),
  };
}
