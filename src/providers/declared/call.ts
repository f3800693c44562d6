import type { Path } from "../../toolkit/schema-problems.ts";
import type { Compiling } from "./compiling.ts";
import type { Scope } from "./expression.ts";
import { ABSENT } from "./expression.ts";
import { ExpressionError } from "./fences.ts";
import type { Files, FileValue } from "./files.ts";
import { type CallForm, METHODS, type Method } from "./form.ts";
import { checkHeaderNames, toHeader } from "./header-names.ts";
import { isFile, type Value, type Worded } from "./value.ts";

/** A compiled call of an upstream's API. */
export interface Call {
  readonly method: Method;
  readonly path: PathValue;
  readonly headers: Value | undefined;
  readonly query: Value | undefined;
  readonly body: { readonly kind: BodyKind; readonly value: Value } | undefined;
}

const BODY_KINDS = ["json", "form", "multipart"] as const;
type BodyKind = (typeof BODY_KINDS)[number];

/** A call in an upstream's words, ready to be sent. */
export interface WordedCall {
  readonly method: Uppercase<Method>;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: { readonly type: string; readonly bytes: Uint8Array } | undefined;
}

/** Largest total size of a body's texts and numbers, without files. */
const TEXT_BYTES = 1024 * 1024;

export function compileCall(
  compiling: Compiling,
  form: CallForm,
  allowed: ReadonlySet<string>,
  path: Path,
): Call {
  const given = METHODS.filter((method) => form[method] !== undefined);
  const [method = "get"] = given;
  if (given.length !== 1) compiling.report(path, `must have one of ${METHODS.join(", ")}, and its path`);
  const bodies = BODY_KINDS.filter((kind) => form[kind] !== undefined);
  const [kind] = bodies;
  if (bodies.length > 1) compiling.report(path, `has more than one of ${BODY_KINDS.join(", ")}`);
  const value = (name: keyof CallForm) =>
    form[name] === undefined
      ? undefined
      : compiling.value(form[name], allowed, [...path, name], name === "multipart");
  const body = kind && value(kind);
  checkHeaderNames(compiling, Object.keys(form.headers ?? {}), [...path, "headers"]);
  return {
    method,
    path: compilePath(compiling, form[method] ?? "/", allowed, [...path, method]),
    headers: value("headers"),
    query: value("query"),
    body: kind && body && { kind, value: body },
  };
}

/** Words a call. @throws ExpressionError when an expression has no value for it */
export async function wordCall(call: Call, scope: Scope, files?: Files): Promise<WordedCall> {
  const inputs = files?.values ?? [];
  const url = withQuery(call.path(scope, inputs), members(call.query, scope, inputs));
  const headers = headersOf(call.headers, scope, inputs);
  refuseContent([url, ...Object.values(headers)], inputs);
  const method = call.method.toUpperCase() as Uppercase<Method>;
  const value = call.body?.value.evaluate(scope, inputs);
  if (call.body === undefined || value === undefined) return { method, url, headers, body: undefined };
  const body = await bodyOf(call.body.kind, value === ABSENT ? {} : value, files);
  return { method, url, headers, body };
}

function members(value: Value | undefined, scope: Scope, files: readonly FileValue[]): [string, Worded][] {
  const worded = value?.evaluate(scope, files);
  return typeof worded === "object" && worded !== null ? Object.entries(worded as object) : [];
}

/** Headers in words. @throws ExpressionError for a value that no header can have */
export function headersOf(
  value: Value | undefined,
  scope: Scope,
  files: readonly FileValue[] = [],
): Record<string, string> {
  const texts = members(value, scope, files).map(([name, each]): [string, string] => [
    name,
    toHeader(name, textOf(name, each, "header")),
  ]);
  return Object.fromEntries(texts);
}

/** Only in a body is the placeholder of a file's content replaced by the content. */
function refuseContent(texts: readonly string[], files: readonly FileValue[]): void {
  for (const { content, base64 } of files)
    for (const each of [content, base64])
      if (texts.some((text) => text.includes(each) || text.includes(encodeURIComponent(each))))
        throw new ExpressionError("puts the content of a file into an address or a header");
}

async function bodyOf(kind: BodyKind, value: Worded, files: Files | undefined): Promise<WordedCall["body"]> {
  if (kind === "multipart") return multipart(value, files);
  const isJson = kind === "json";
  if (charactersIn(value, TEXT_BYTES) > TEXT_BYTES) throw tooLong();
  const text = isJson ? JSON.stringify(value, withoutFiles) : String(new URLSearchParams(pairsOf(value)));
  if (text.length > TEXT_BYTES) throw tooLong();
  const bytes = files === undefined ? new TextEncoder().encode(text) : await files.bytesOf(text);
  return { type: isJson ? "application/json" : "application/x-www-form-urlencoded", bytes };
}

function tooLong(): ExpressionError {
  return new ExpressionError(`makes a body of more than ${TEXT_BYTES} characters`);
}

/** How long the texts of a body are, as far as that matters. Putting them together first would take the memory. */
function charactersIn(value: unknown, most: number): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 1;
  let sum = 0;
  for (const each of Object.values(value)) {
    sum += charactersIn(each, most - sum);
    if (sum > most) break;
  }
  return sum;
}

/** A file itself cannot be part of JSON. */
function withoutFiles(_key: string, value: unknown): unknown {
  if (isFile(value)) throw new ExpressionError("puts a file into JSON; use base64(…), uri(…) or url(…)");
  return value;
}

async function multipart(value: Worded, files: Files | undefined): Promise<WordedCall["body"]> {
  const form = new FormData();
  if (charactersIn(value, TEXT_BYTES) > TEXT_BYTES) throw tooLong();
  const parts = Object.entries(value as object) as [string, Worded][];
  for (const [name, each] of parts) {
    // Several parts have one name, which a list of values or of files gives.
    for (const part of Array.isArray(each) ? (each as Worded[]) : [each]) {
      if (isFile(part)) {
        if (files !== undefined)
          form.append(name, new Blob([await files.contentOf(part)], { type: part.type }), part.name);
      } else {
        const text = typeof part === "object" ? JSON.stringify(part) : String(part);
        form.append(name, files === undefined ? text : Buffer.from(await files.bytesOf(text)).toString());
      }
    }
  }
  // Encoded to bytes, so that the body has a known length and is sent in one piece.
  const encoded = new Response(form);
  const type = encoded.headers.get("content-type") ?? "multipart/form-data";
  return { type, bytes: await encoded.bytes() };
}

/** Names and texts of a query or a form. Lists repeat their name. */
function pairsOf(value: Worded, what = "field"): [string, string][] {
  const given = Object.entries(value as object) as [string, Worded][];
  return given.flatMap(([name, each]) =>
    (Array.isArray(each) ? (each as Worded[]) : [each]).map((one): [string, string] => [
      name,
      textOf(name, one, what),
    ]),
  );
}

function textOf(name: string, value: Worded, what: string): string {
  if (typeof value !== "object") return String(value);
  throw new ExpressionError(`the ${what} "${name}" must be a text or a number`);
}

/** An address with parameters added. */
function withQuery(url: string, given: readonly [string, Worded][]): string {
  const pairs = pairsOf(Object.fromEntries(given), "parameter");
  if (pairs.length === 0) return url;
  return `${url}${url.includes("?") ? "&" : "?"}${new URLSearchParams(pairs)}`;
}

/** A path below the base, or, where an expression gives all of it, an address. */
type PathValue = (scope: Scope, files: readonly FileValue[]) => string;

function compilePath(
  compiling: Compiling,
  text: string,
  allowed: ReadonlySet<string>,
  path: Path,
): PathValue {
  const { template, isWhole, expressions } = compiling.template(text, allowed, path);
  const [first = "", ...rest] = template.texts;
  const [only] = expressions;
  if (only !== undefined && isWhole) {
    return (scope, files) => addressIn(only.evaluate(scope, files));
  }
  // An address that an answer gave, and more behind it.
  const isAddress = first === "" && expressions.length > 0;
  if (!isAddress && !first.startsWith("/") && !/^https:\/\//.test(first))
    compiling.report(path, 'must begin with "/", or with an expression that gives an address');
  return (scope, files) =>
    expressions.reduce((address, expression, i) => {
      const value = expression.evaluate(scope, files);
      const part = isAddress && i === 0 ? addressIn(value) : encoded(value);
      return address + part + (rest[i] ?? "");
    }, first);
}

function addressIn(value: unknown): string {
  if (typeof value !== "string" || value === "") throw new ExpressionError("the address is no text");
  if (value.startsWith("/") && UPWARDS.test(value))
    throw new ExpressionError('a part of the path is "." or ".."');
  return value;
}

/** Steps upwards in a path, in each way that addresses are read. */
const UPWARDS = /(?:^|[/\\])(?:\.|%2e){1,2}(?:[/\\?#]|$)/i;

/** One or more segments of a path. Slashes stay, for names such as `models/veo`. */
function encoded(value: unknown): string {
  if (typeof value !== "string" && typeof value !== "number" && typeof value !== "bigint")
    throw new ExpressionError("a part of the path is no text");
  const text = String(value).toWellFormed();
  if (text === "") throw new ExpressionError("a part of the path is empty");
  const segments = text.split("/");
  if (segments.some((each) => each === "." || each === ".."))
    throw new ExpressionError('a part of the path is "." or ".."');
  return segments.map((each) => encodeURIComponent(each).replaceAll("%3A", ":")).join("/");
}
