import { isJsonObject, type Json } from "../../domain/json.ts";
import { HOPS_HEADER } from "../../domain/task/hops.ts";
import type { Use } from "../kit/network.ts";
import { sha256Of, textOf } from "./files.ts";
import { HOOK_MASK, sentHeaders, withoutAddressKeys } from "./masking.ts";

/** A request as it was recorded, or as it is asked. */
export interface Request {
  /** The account; absent for a file that none was asked for. */
  readonly lane?: string | undefined;
  readonly use: Use;
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | undefined;
  /** When it was sent. */
  readonly atMs: number;
}

/**
 * A request without what cannot be the same twice: ids of attempts and tasks and UUIDs, times within an hour of the request, addresses
 * where upstreams may call, signatures in addresses, the boundary of a form, and the headers that say how often a request was passed on.
 */
export interface Asked {
  /** Equal for equal requests. */
  readonly key: string;
  /** To be compared. Texts that are long are there by their hashes. */
  readonly shape: { readonly [part: string]: Json };
  /** The ids that were taken out, in their order. */
  readonly ids: readonly string[];
}

const ID =
  /\b(?:att|task)_[0-7][0-9a-hjkmnp-tv-z]{25}\b|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g;
const HOUR_MS = 3_600_000;
const DATE = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;
const LONG = 400;

export async function canonical(request: Request): Promise<Asked> {
  const { lane = "", use, method, url, headers, body, atMs } = request;
  const normal = new Normal(atMs);
  const type = headers["content-type"] ?? "";
  const content = body === undefined || body.length === 0 ? {} : { body: await normal.body(body, type) };
  const shape = {
    ...{ account: lane, use, method, url: normal.url(url), headers: normal.headers(headers) },
    ...content,
  };
  return { shape, key: sha256Of(Buffer.from(JSON.stringify(shape))), ids: normal.ids };
}

/** A value without ids and times, to be compared. */
export function canonicalValue(value: Json, atMs: number): Json {
  return new Normal(atMs).value(value);
}

class Normal {
  readonly ids: string[] = [];
  constructor(readonly atMs: number) {}

  url(text: string): Json {
    const clean = withoutAddressKeys(text);
    const url = URL.parse(clean);
    if (url === null) return this.text(clean);
    const query = [...url.searchParams].filter(([, value]) => value !== HOOK_MASK);
    const pairs = query.map(([name, value]) => `${name}=${this.text(value)}`).sort();
    return `${this.text(url.origin + url.pathname)}${pairs.length === 0 ? "" : `?${pairs.join("&")}`}`;
  }

  headers(given: Readonly<Record<string, string>>): Json {
    const kept = Object.entries(sentHeaders(given, withoutAddressKeys))
      .filter(([name]) => name !== HOPS_HEADER.toLowerCase() && name !== "traceparent")
      .sort(([one], [other]) => (one < other ? -1 : 1));
    return Object.fromEntries(
      kept.map(([name, value]) => [
        name,
        name === "content-type" ? (value.split(";")[0] ?? "") : this.text(value),
      ]),
    );
  }

  async body(bytes: Uint8Array, type: string): Promise<Json> {
    if (type.startsWith("multipart/")) return await this.#parts(bytes, type);
    const text = textOf(bytes);
    if (text === undefined) return contentOf(bytes);
    const clean = withoutAddressKeys(text);
    if (type.includes("urlencoded")) {
      const pairs = [...new URLSearchParams(clean)].filter(([, value]) => value !== HOOK_MASK);
      return this.#named(pairs.map(([name, value]) => [name, this.text(value)]));
    }
    try {
      return this.value(JSON.parse(clean));
    } catch {
      return this.text(clean);
    }
  }

  async #parts(bytes: Uint8Array, type: string): Promise<Json> {
    const form = await new Response(new Uint8Array(bytes), { headers: { "content-type": type } })
      .formData()
      .catch(() => undefined);
    if (form === undefined) return contentOf(bytes);
    const parts: [string, Json][] = [];
    for (const [name, part] of form) {
      if (typeof part !== "string") {
        const file = { name: part.name, type: part.type };
        parts.push([name, { ...file, ...contentOf(await part.bytes()) }]);
      } else if (withoutAddressKeys(part) !== HOOK_MASK)
        parts.push([name, this.value(jsonOr(withoutAddressKeys(part)))]);
    }
    return this.#named(parts);
  }

  #named(pairs: readonly (readonly [string, Json])[]): Json {
    const named = Object.groupBy(pairs, ([name]) => name);
    const names = Object.keys(named).sort();
    return Object.fromEntries(
      names.map((name) => {
        const values = named[name]?.map(([, value]) => value) ?? [];
        return [name, values.length === 1 ? (values[0] ?? "") : values];
      }),
    );
  }

  value(value: unknown): Json {
    if (typeof value === "string") return this.text(value);
    if (typeof value === "number") return this.#isNow(value) ? "<time>" : value;
    if (Array.isArray(value)) return value.map((each) => this.value(each));
    if (!isJsonObject(value)) return value === true || value === false ? value : null;
    const entries = Object.entries(value).filter(([, each]) => each !== HOOK_MASK);
    entries.sort(([one], [other]) => (one < other ? -1 : 1));
    return Object.fromEntries(entries.map(([name, each]) => [name, this.value(each)]));
  }

  text(text: string): string {
    if (text.length > LONG)
      return `<${text.length} characters, sha256 ${sha256Of(Buffer.from(this.#short(text)))}>`;
    return this.#short(text);
  }

  #short(text: string): string {
    if (/^\d{10}(?:\d{3})?$/.test(text) && this.#isNow(Number(text))) return "<time>";
    return text
      .replace(ID, (id) => {
        this.ids.push(id);
        return "<id>";
      })
      .replace(DATE, (date) => (Math.abs(Date.parse(date) - this.atMs) < HOUR_MS ? "<time>" : date));
  }

  #isNow(value: number): boolean {
    return Math.abs(value - this.atMs) < HOUR_MS || Math.abs(value * 1_000 - this.atMs) < HOUR_MS;
  }
}

function contentOf(bytes: Uint8Array) {
  return { bytes: bytes.length, sha256: sha256Of(bytes) };
}

function jsonOr(text: string): unknown {
  try {
    return text.startsWith("{") || text.startsWith("[") ? JSON.parse(text) : text;
  } catch {
    return text;
  }
}

/** Where two requests first differ, in words; undefined where they are equal. */
export function firstDifference(
  recorded: Json | undefined,
  asked: Json | undefined,
  at = "",
): string | undefined {
  if (isJsonObject(recorded) && isJsonObject(asked)) {
    for (const name of new Set([...Object.keys(recorded), ...Object.keys(asked)])) {
      const found = firstDifference(recorded[name], asked[name], at === "" ? name : `${at}.${name}`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (Array.isArray(recorded) && Array.isArray(asked) && recorded.length === asked.length) {
    for (const [i, each] of recorded.entries()) {
      const found = firstDifference(each, asked[i], `${at}[${i}]`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (JSON.stringify(recorded) === JSON.stringify(asked)) return undefined;
  return `${at} is ${shown(recorded)} there, and ${shown(asked)} here`;
}

function shown(value: Json | undefined): string {
  if (value === undefined) return "absent";
  const text = JSON.stringify(value);
  return text.length <= 120 ? text : `${text.slice(0, 120).toWellFormed()}…`;
}
