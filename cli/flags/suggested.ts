import type { Option } from "commander";

const WORDS = new WeakMap<Option, readonly string[]>();

/** Has shells complete a flag's value by these words, of which it may also take others. */
export function suggesting(option: Option, words: readonly string[]): Option {
  WORDS.set(option, words);
  return option;
}

export const suggestedFor = (option: Option): readonly string[] | undefined => WORDS.get(option);
