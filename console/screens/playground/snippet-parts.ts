import type { Body } from "./request.ts";

/** What a request is written down from. */
export interface Written {
  /** Of the service, with a slash at its end. */
  readonly root: string;
  readonly kind: "image" | "video";
  readonly body: Body;
  /** Fields of the body that take pictures, and the rest of the media. */
  readonly inputs: readonly { readonly field: string; readonly role: string }[];
  /** Names of the files whose content the body has. */
  readonly names: ReadonlyMap<string, string>;
}

export interface Snippet {
  readonly title: string;
  readonly text: string;
}

/** A file in a body: its name, and the data URI without its content. */
export interface InlineFile {
  readonly name: string;
  readonly head: string;
}

/** A request whose files are marks. */
export interface Parts extends Omit<Written, "names"> {
  /** By the mark that stands for it in the body. */
  readonly files: ReadonlyMap<string, InlineFile>;
}

/** JSON whose invisible characters are escaped, so that it reads as it is. */
export function json(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replace(
    /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** Texts of JSON are texts of Python; three words are not. */
export function pythonLiteral(parts: Parts, value: unknown, indent: string): string {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "string") {
    const file = parts.files.get(value);
    return file === undefined
      ? json(value)
      : `${json(file.head)} + base64.b64encode(Path(${json(file.name)}).read_bytes()).decode()`;
  }
  const deeper = `${indent}    `;
  if (Array.isArray(value))
    return `[${value.map((each) => `\n${deeper}${pythonLiteral(parts, each, deeper)},`).join("")}\n${indent}]`;
  if (typeof value !== "object") return json(value);
  const lines = Object.entries(value).map(
    ([name, each]) => `\n${deeper}${json(name)}: ${pythonLiteral(parts, each, deeper)},`,
  );
  return `{${lines.join("")}\n${indent}}`;
}
