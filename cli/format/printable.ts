import { printable, printableLines } from "../../src/toolkit/printable.ts";

export { printable, printableLines };

/** Makes JSON text safe for a terminal without changing its value. */
export function printableJson(value: object, indent?: number): string {
  return printableLines(JSON.stringify(value, null, indent));
}

/** Returns the first line of a text, cut. */
export function firstLine(text: string, maxCharacters: number): string {
  const [line = "", ...more] = text.trim().split(/[\r\n]+/);
  const characters = [...line];
  const isCut = characters.length > maxCharacters || more.length > 0;
  return printable(characters.slice(0, maxCharacters).join("")) + (isCut ? "…" : "");
}
