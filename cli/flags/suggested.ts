import type { Option } from "commander";

const WORDS = new WeakMap<Option, readonly string[]>();

/** Makes shells complete a flag's value with these words; other values are allowed too. */
export function suggesting(option: Option, words: readonly string[]): Option {
  WORDS.set(option, words);
  return option;
}

export const suggestedFor = (option: Option): readonly string[] | undefined => WORDS.get(option);
