import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Json } from "../../src/domain/json.ts";
import { jsonFault } from "../../src/toolkit/json-fault.ts";
import { reasonOf } from "../../src/toolkit/system-error.ts";
import type { Context } from "../context.ts";
import { usage } from "../failure.ts";

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
const HEADER = /^([A-Za-z0-9!#$%&'*+.^_`|~-]+):[ \t]*(.*)$/;
/** Paths that need a credential, and which one; everything else is open. */
const CREDENTIALS = [
  { below: "/admin/", kind: "token" },
  { below: "/metrics", kind: "token" },
  { below: "/v1/", kind: "key" },
  { below: "/compat/", kind: "key" },
] as const;

export function readMethod(text: string): string {
  const method = text.toUpperCase();
  if (METHODS.includes(method)) return method;
  throw usage(`"${text.slice(0, 80)}" is not a method; use ${METHODS.join(", ")}.`, "svc api GET /v1/models");
}

/** A path on the server, or an address there. @throws Failure (exit 2) for any other server, which must not get the key */
export function readTarget(text: string, server: string): URL {
  const isWhole = /^[a-z][a-z0-9+.-]*:/i.test(text);
  const url = URL.parse(isWhole ? text : `${server}${text.startsWith("/") ? "" : "/"}${text}`);
  if (url === null) throw usage(`"${text.slice(0, 80)}" is not a path; write it like /v1/models.`);
  const { origin } = new URL(server);
  if (url.origin !== origin || url.username !== "")
    throw usage(
      `${url.origin} is not the server (${origin}): your key is for that one alone.`,
      "Give a path, like /v1/models, and the server with --server.",
    );
  url.hash = "";
  return url;
}

/** The credential that a path takes; undefined for what everybody may read, and for what is beside a server that has a path. */
export function credentialFor({ pathname }: URL, server: string): "key" | "token" | undefined {
  const base = new URL(server).pathname.replace(/\/$/, "");
  const path = pathname.startsWith(`${base}/`) ? pathname.slice(base.length) : "";
  return CREDENTIALS.find(({ below }) => path.startsWith(below))?.kind;
}

export function readHeaders(texts: readonly string[]): Headers {
  const headers = new Headers({ Accept: "*/*" });
  for (const text of texts) {
    const [, name, value] = HEADER.exec(text) ?? [];
    if (name === undefined || value === undefined)
      throw usage(`"${text.slice(0, 80)}" is not a header; write it like 'Prefer: wait=10'.`);
    headers.set(name, value);
  }
  return headers;
}

/** `k=v` is text and `k:=json` any value. */
export function readField(text: string): readonly [name: string, value: Json] {
  const [, name, operator, value = ""] = /^([^=:]+)(:?=)(.*)$/s.exec(text) ?? [];
  if (name === undefined)
    throw usage(`"${text.slice(0, 80)}" is not a field; write name=text or name:=json.`);
  if (operator === "=") return [name, value];
  try {
    // JSON.parse returns only Json.
    return [name, JSON.parse(value) as Json];
  } catch {
    throw usage(`${name} is not valid JSON: ${jsonFault(value)}.`);
  }
}

/** A file, or standard input for `-`. */
export async function readInputFile(
  path: string,
  { cwd, stdin }: Pick<Context, "cwd" | "stdin">,
): Promise<Uint8Array<ArrayBuffer>> {
  try {
    return path === "-" ? await stdin.readAll() : new Uint8Array(await readFile(resolve(cwd, path)));
  } catch (error) {
    throw usage(`--input ${path} cannot be read: ${reasonOf(error)}.`);
  }
}
