import type { Path } from "../../toolkit/schema-problems.ts";
import type { Compiling } from "./compiling.ts";
import { ExpressionError } from "./fences.ts";

/** Headers that say how a message is sent, or to whom. They are not a form's to set. */
const OF_TRANSPORT: ReadonlySet<string> = new Set([
  ...["host", "connection", "content-length", "transfer-encoding", "keep-alive", "upgrade", "te", "trailer"],
  ...["expect", "accept-encoding", "proxy-authorization", "proxy-connection"],
]);
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** What a header can hold: no line breaks, which would begin another one. */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Reports headers that no request can have, or that are not the form's to set. */
export function checkHeaderNames(compiling: Compiling, names: Iterable<string>, path: Path): void {
  for (const name of names) {
    const problem = !NAME.test(name)
      ? "is no name of a header"
      : OF_TRANSPORT.has(name.toLowerCase())
        ? "is a header that the connection itself sets"
        : undefined;
    if (problem !== undefined) compiling.report([...path, name], problem, { isKey: true });
  }
}

/** @throws ExpressionError for a text that is no value of a header */
export function toHeader(name: string, text: string): string {
  if (VALUE.test(text)) return text;
  throw new ExpressionError(
    `the header "${name}" would have a line break, or letters that headers cannot have`,
  );
}
