/** What a text of XML begins with: its root element, more than was read, or a document type that declares things of its own. */
export type Beginning = { readonly root: string } | "unfinished" | "declares" | "no XML";

const MARK = "\xef\xbb\xbf";

/**
 * The root element of a text of XML, past declaration, comments and document type. Nothing that is read here is more than ASCII, which every
 * encoding that passes has in common: UTF-16 is no XML here.
 */
export function readBeginning(bytes: Uint8Array): Beginning {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
  let at = text.startsWith(MARK) ? MARK.length : 0;
  for (;;) {
    while (/[\t\n\r ]/.test(text.charAt(at))) at += 1;
    if (at >= text.length) return text.includes("<") ? "unfinished" : "no XML";
    const opening = PARTS.find(({ begins }) => text.startsWith(begins, at));
    if (opening === undefined) return rootAt(text, at);
    const end = opening.ends(text, at + opening.begins.length);
    if (typeof end !== "number") return end;
    at = end;
  }
}

function rootAt(text: string, at: number): Beginning {
  const head = text.slice(at, at + 80);
  const root = /^<([A-Za-z_][\w.:-]*)[\s/>]/.exec(head)?.[1];
  if (root !== undefined) return { root };
  const isCut = at + head.length === text.length && /^<(?:[A-Za-z_][\w.:-]*|!|!-|!D[A-Z]*)?$/.test(head);
  return isCut ? "unfinished" : "no XML";
}

const upTo = (mark: string) => (text: string, from: number) => {
  const at = text.indexOf(mark, from);
  return at === -1 ? "unfinished" : at + mark.length;
};

const PARTS: readonly {
  readonly begins: string;
  readonly ends: (text: string, from: number) => number | Beginning;
}[] = [
  { begins: "<?", ends: upTo("?>") },
  { begins: "<!--", ends: upTo("-->") },
  { begins: "<!DOCTYPE", ends: endOfDocumentType },
];

/** Its names may be in quotes, in which a bracket means nothing. */
function endOfDocumentType(text: string, from: number): number | Beginning {
  const name = /^\s+([\w.:-]+)/.exec(text.slice(from, from + 80))?.[1];
  if (name !== undefined && name !== "svg" && from + 80 <= text.length) return "no XML";
  for (let at = from; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character === ">") return name === "svg" ? at + 1 : "no XML";
    if (character === "[") return "declares";
    if (character !== '"' && character !== "'") continue;
    at = text.indexOf(character, at + 1);
    if (at === -1) return "unfinished";
  }
  return "unfinished";
}
