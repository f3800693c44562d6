/*
 * Reads the answers of S3, whose elements are known and whose values are keys, numbers, times and tags. What is not
 * understood is absent; no value decides more than which of our own objects is meant.
 */

/** The text of the first element of this name. */
export function textOf(xml: string, name: string): string | undefined {
  const found = new RegExp(`<${name}(?:\\s[^>]*)?>([^<]*)</${name}>`).exec(xml)?.[1];
  return found === undefined ? undefined : decoded(found);
}

/** What is inside each element of this name, which holds none of its own name. */
export function elementsOf(xml: string, name: string): string[] {
  return Array.from(
    xml.matchAll(new RegExp(`<${name}(?:\\s[^>]*)?>([\\s\\S]*?)</${name}>`, "g")),
    (each) => each[1] ?? "",
  );
}

export function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
}

const NAMED: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function decoded(text: string): string {
  return text.replace(/&(?:#(\d{1,6})|#x([\da-fA-F]{1,5})|(\w+));/g, (whole, decimal, hexadecimal, name) => {
    if (name !== undefined) return NAMED[name] ?? whole;
    const code = decimal === undefined ? Number.parseInt(hexadecimal, 16) : Number(decimal);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}
