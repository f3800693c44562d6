import type { Expression } from "./expression.ts";

/** A text with expressions in it: `/v1/tasks/${operation.id}`. Literal texts and expressions take turns, beginning with a text. */
export interface Template {
  readonly texts: readonly string[];
  readonly expressions: readonly Placed[];
}

/** An expression, and how many characters of its text stand before it. */
export interface Placed {
  readonly source: string;
  readonly offset: number;
}

/** A template whose expressions are compiled. */
export interface CompiledTemplate {
  readonly template: Template;
  readonly isWhole: boolean;
  readonly expressions: readonly Expression[];
}

/** A template that cannot be read. `offset` is where in its text. */
export class TemplateError extends Error {
  override readonly name = "TemplateError";
  constructor(
    message: string,
    readonly offset: number,
  ) {
    super(message);
  }
}

/** Splits a text at its `${…}`. `$${` stands for `${` itself. @throws TemplateError for one that is never closed, or empty */
export function readTemplate(text: string): Template {
  const texts: string[] = [];
  const expressions: Placed[] = [];
  let literal = "";
  let at = 0;
  while (at < text.length) {
    const next = text.indexOf("${", at);
    if (next === -1) break;
    if (text[next - 1] === "$" && next > at) {
      literal += `${text.slice(at, next - 1)}\${`;
      at = next + 2;
      continue;
    }
    literal += text.slice(at, next);
    const end = endOf(text, next + 2);
    if (end === undefined) throw new TemplateError('"${" is never closed by "}"', next);
    const source = text.slice(next + 2, end);
    if (source.trim() === "") throw new TemplateError('there is nothing between "${" and "}"', next);
    texts.push(literal);
    expressions.push({ source, offset: next + 2 });
    literal = "";
    at = end + 1;
  }
  texts.push(literal + text.slice(at));
  return { texts, expressions };
}

/** Whether the template is one expression and nothing else, so that its value keeps its type. */
export function isWhole({ texts, expressions }: Template): boolean {
  return expressions.length === 1 && texts.every((text) => text === "");
}

/** Where the brace is that closes an expression, past strings and braces of its own. */
function endOf(text: string, from: number): number | undefined {
  let depth = 0;
  for (let i = from; i < text.length; i++) {
    const character = text[i];
    if (character === '"' || character === "'") {
      const end = endOfString(text, i);
      if (end === undefined) return undefined;
      i = end;
    } else if (character === "{") depth++;
    else if (character === "}" && depth-- === 0) return i;
  }
  return undefined;
}

function endOfString(text: string, from: number): number | undefined {
  const quote = text[from];
  for (let i = from + 1; i < text.length; i++) {
    if (text[i] === "\\") i++;
    else if (text[i] === quote) return i;
  }
  return undefined;
}
