/** What moves a terminal's cursor, starts one of its commands, or turns the direction of its text. */
const UNPRINTABLE = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;
/** In JSON text, where line breaks are only those of its layout. */
const UNPRINTABLE_IN_JSON = /(?!\n)[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

/** Text that somebody else wrote, as a terminal may show it: what would command the terminal is written out as `\u001b`. */
export function printable(text: string): string {
  return text.replaceAll(UNPRINTABLE, escaped);
}

/** JSON of the same value that commands no terminal. */
export function printableJson(value: object, indent?: number): string {
  return JSON.stringify(value, null, indent).replaceAll(UNPRINTABLE_IN_JSON, escaped);
}

/** The first line of a text, cut. */
export function firstLine(text: string, maxCharacters: number): string {
  const [line = "", ...more] = text.trim().split(/[\r\n]+/);
  const characters = [...line];
  const isCut = characters.length > maxCharacters || more.length > 0;
  return printable(characters.slice(0, maxCharacters).join("")) + (isCut ? "…" : "");
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
