const QUOTE = 0x22;
const BACKSLASH = 0x5c;

export interface JsonShape {
  /** Objects and arrays within one another. */
  readonly depth: number;
  /** Values and names. Entries of arrays count, members of objects count twice. */
  readonly tokens: number;
  /** Members of all objects. */
  readonly members: number;
}

/**
 * Measures JSON text in one pass, without parsing it. Stops as soon as either limit is exceeded, because parsing would take much
 * time and memory.
 */
export function measureJson(
  text: string,
  most: { readonly depth: number; readonly tokens: number },
): JsonShape {
  let depth = 0;
  let deepest = 0;
  let entries = 0;
  let members = 0;
  for (let i = 0; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case QUOTE:
        i = stringEnd(text, i);
        break;
      case 0x7b: // {
      case 0x5b: // [
        entries++;
        if (++depth > deepest) deepest = depth;
        break;
      case 0x7d: // }
      case 0x5d: // ]
        depth--;
        break;
      case 0x2c: // ,
        entries++;
        break;
      case 0x3a: // :
        members++;
        break;
    }
    if (deepest > most.depth || entries + members > most.tokens) break;
  }
  return { depth: deepest, tokens: entries + members, members };
}

/** Position of the quote that ends the string starting at `start`, or the text's end. */
export function stringEnd(text: string, start: number): number {
  for (let from = start + 1; ; ) {
    const quote = text.indexOf('"', from);
    if (quote === -1) return text.length;
    let backslashes = 0;
    while (text.charCodeAt(quote - 1 - backslashes) === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return quote;
    from = quote + 1;
  }
}
