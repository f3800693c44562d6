import type { FacadeName } from "../domain/facades.ts";

/** What a snippet is made of. */
export interface Given {
  /** The service's address without a slash at its end. */
  readonly origin: string;
  /** Absent: programs read it from the variable `SVC_API_KEY`. */
  readonly key?: string | undefined;
  readonly model: string;
}

/** What a snippet is written in, which is how it can be tried. */
export type Language = "sh" | "js" | "python" | "env" | "json" | "toml" | "yaml" | "text";

/** How a program is told of this service. */
export interface Snippet {
  readonly id: string;
  /** Of the program or the library. */
  readonly name: string;
  /** Where the text goes. */
  readonly place: string;
  readonly language: Language;
  /** The API that it speaks, where that can be switched off. */
  readonly facade?: FacadeName | undefined;
  readonly text: (given: Given) => string;
  /** How it makes a film, with a model of videos; absent where it makes pictures alone. */
  readonly film?: { readonly place: string; readonly text: (given: Given) => string } | undefined;
}

/** The variable that programs read a key from. */
export const KEY_VARIABLE = "SVC_API_KEY";
export const PROMPT = "a lighthouse at dusk";

/** A text as JavaScript, Python and JSON write it. */
export function quoted(value: string): string {
  return JSON.stringify(value);
}

/** The key as JavaScript has it. */
export const keyInJs = ({ key }: Given): string =>
  key === undefined ? `process.env.${KEY_VARIABLE}` : quoted(key);

/** The key as Python has it. */
export const keyInPython = ({ key }: Given): string =>
  key === undefined ? `os.environ[${quoted(KEY_VARIABLE)}]` : quoted(key);

/** The key as shells, and programs that read variables as they do, have it. */
export const keyInShell = ({ key }: Given): string => key ?? `$${KEY_VARIABLE}`;

/** The key as files of variables have it, which programs expand. */
export const keyInEnv = ({ key }: Given): string => key ?? `\${${KEY_VARIABLE}}`;
