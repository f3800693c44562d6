/** An element of an XML document, with the text directly in it. */
export interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  text: string;
}

const NAME = "[A-Za-z][\\w:-]*";
const TOKEN = new RegExp(`<(/?)(${NAME})((?:\\s+${NAME}="[^"<]*")*)\\s*(/?)>|([^<]+)`, "y");
const ATTRIBUTE = new RegExp(`(${NAME})="([^"]*)"`, "g");
const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };
// biome-ignore lint/suspicious/noControlCharactersInRegex: those that XML forbids
const FORBIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/;

/** Reads the part of XML that SVG writers use. @returns its elements in order @throws Error where it is not well-formed */
export function elementsOf(document: string): Element[] {
  if (FORBIDDEN.test(document)) throw new Error("It has a character that XML forbids.");
  const elements: Element[] = [];
  const open: Element[] = [];
  for (let at = 0; at < document.length; at = TOKEN.lastIndex) {
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(document);
    if (match === null)
      throw new Error(`It is not well-formed at ${JSON.stringify(document.slice(at, at + 80))}.`);
    const [, closing, name = "", attributes = "", empty, text] = match;
    const parent = open.at(-1);
    if (text !== undefined) {
      if (parent !== undefined) parent.text += decoded(text);
      else if (text.trim() !== "") throw new Error("It has text outside its root.");
    } else if (closing === "/") {
      if (open.pop()?.name !== name) throw new Error(`It ends ${name}, which is not open.`);
    } else {
      if (parent === undefined && elements.length > 0) throw new Error("It has two roots.");
      const element = { name, attributes: attributesOf(attributes), text: "" };
      elements.push(element);
      if (empty !== "/") open.push(element);
    }
  }
  if (open.length > 0 || elements.length === 0) throw new Error("It does not end.");
  return elements;
}

function attributesOf(text: string): Record<string, string> {
  const found = [...text.matchAll(ATTRIBUTE)].map(
    ([, name = "", value = ""]) => [name, decoded(value)] as const,
  );
  if (new Set(found.map(([name]) => name)).size < found.length)
    throw new Error(`An attribute is there twice:${text}`);
  return Object.fromEntries(found);
}

function decoded(text: string): string {
  return text.replaceAll(/&(\w*);?/g, (whole, name: string) => {
    const character = ENTITIES[name];
    if (character === undefined || !whole.endsWith(";")) throw new Error(`${whole} is no entity.`);
    return character;
  });
}
