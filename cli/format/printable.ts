/** Characters that move a terminal's cursor, start a terminal command, or change the text direction. */
const UNPRINTABLE = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;
/** The same for text whose line breaks are layout. */
const UNPRINTABLE_IN_LINES = /(?!\n)[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

/** Makes text from outside safe for a terminal: writes control characters as `\u001b`. */
export function printable(text: string): string {
  return text.replaceAll(UNPRINTABLE, escaped);
}

/** The same for text of several lines. */
export function printableLines(text: string): string {
  return text.replaceAll(UNPRINTABLE_IN_LINES, escaped);
}

/** Makes JSON text safe for a terminal without changing its value. */
export function printableJson(value: object, indent?: number): string {
  return JSON.stringify(value, null, indent).replaceAll(UNPRINTABLE_IN_LINES, escaped);
}

/** Returns the first line of a text, cut. */
export function firstLine(text: string, maxCharacters: number): string {
  const [line = "", ...more] = text.trim().split(/[\r\n]+/);
  const characters = [...line];
  const isCut = characters.length > maxCharacters || more.length > 0;
  return printable(characters.slice(0, maxCharacters).join("")) + (isCut ? "…" : "");
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
