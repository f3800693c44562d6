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

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
