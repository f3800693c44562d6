import { isIP } from "node:net";
import { isJsonObject } from "../domain/json.ts";

/** A value in the form the settings file has it, or as text from a flag or a variable. */
export type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  /** `expected` completes "must be …". */
  | { readonly ok: false; readonly expected: string };
export type Parser<T> = (raw: unknown) => Parsed<T>;

const ok = <T>(value: T): Parsed<T> => ({ ok: true, value });
const no = (expected: string): { ok: false; expected: string } => ({ ok: false, expected });

export const text: Parser<string> = (raw) =>
  typeof raw === "string" && raw.trim() !== "" ? ok(raw) : no("a text");

export const boolean: Parser<boolean> = (raw) => {
  if (typeof raw === "boolean") return ok(raw);
  const word = typeof raw === "string" ? raw.toLowerCase() : "";
  if (["true", "1", "yes", "on"].includes(word)) return ok(true);
  if (["false", "0", "no", "off"].includes(word)) return ok(false);
  return no("true or false");
};

export function integer(min: number, max: number, reason = ""): Parser<number> {
  return (raw) => {
    const value = typeof raw === "string" && /^\d+$/.test(raw.trim()) ? Number(raw) : raw;
    const isInRange = typeof value === "number" && Number.isInteger(value) && value >= min && value <= max;
    return isInRange ? ok(value) : no(`an integer from ${min} to ${max}${reason}`);
  };
}

/** Seconds outside, with a fraction if need be; milliseconds inside. */
export function secondsAsMs(min: number, max: number): Parser<number> {
  return (raw) => {
    const value = typeof raw === "string" && /^\d+(\.\d+)?$/.test(raw.trim()) ? Number(raw) : raw;
    const isInRange = typeof value === "number" && value >= min && value <= max;
    return isInRange ? ok(Math.round(value * 1000)) : no(`seconds, from ${min} to ${max}`);
  };
}

/** Between one and `most` numbers of seconds, in a list or with commas between them. */
export function listOfSecondsAsMs(limits: {
  readonly most: number;
  readonly min: number;
  readonly max: number;
}): Parser<readonly number[]> {
  const { most, min, max } = limits;
  const one = secondsAsMs(min, max);
  return (raw) => {
    const items = (Array.isArray(raw) ? raw : [raw]).flatMap((item: unknown) =>
      typeof item === "string" ? item.split(",") : [item],
    );
    const list = items.map(one);
    const values = list.flatMap((item) => (item.ok ? [item.value] : []));
    return values.length === items.length && values.length <= most
      ? ok(values)
      : no(`1 to ${most} numbers of seconds, each from ${min} to ${max}, such as 5,60`);
  };
}

export function oneOf<const T extends string>(choices: readonly T[]): Parser<T> {
  return (raw) => {
    const found = choices.find((choice) => choice === raw);
    return found === undefined ? no(`one of ${choices.join(", ")}`) : ok(found);
  };
}

/** A port, or `off` for none. */
export function portOrOff(port: Parser<number>): Parser<number | undefined> {
  return (raw) => {
    if (raw === false || raw === "off") return ok(undefined);
    const parsed = port(raw);
    return parsed.ok ? parsed : no(`${parsed.expected}, or off`);
  };
}

/** A host name or an address to listen on, without scheme and port. */
export const host: Parser<string> = (raw) => {
  const given = typeof raw === "string" ? raw.replace(/^\[(.*)\]$/, "$1") : "";
  const isHost = isIP(given) !== 0 || /^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/.test(given);
  return isHost ? ok(given) : no("a host name or an address without scheme and port, such as 127.0.0.1");
};

export const origin: Parser<string> = (raw) => {
  const expected = "a scheme and host without a path, such as https://media.example.com";
  const url = typeof raw === "string" ? URL.parse(raw) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) return no(expected);
  const isBare =
    url.pathname === "/" &&
    url.search === "" &&
    url.hash === "" &&
    url.username === "" &&
    url.password === "";
  return isBare ? ok(url.origin) : no(expected);
};

/** The address of an API, which may have a path; without a trailing slash. */
export const apiUrl: Parser<string> = (raw) => {
  const url = typeof raw === "string" ? URL.parse(raw.trim()) : null;
  const isPlain =
    url !== null &&
    /^https?:$/.test(url.protocol) &&
    [url.search, url.hash, url.username, url.password].every((part) => part === "");
  return isPlain
    ? ok(url.href.replace(/\/+$/, ""))
    : no("an http or https URL without user, query or fragment, such as https://api.example.com/v1");
};

/** A credential. What was given is never to be shown. */
export const apiKey: Parser<string> = (raw) =>
  typeof raw === "string" && /^[\x21-\x7e]{1,512}$/.test(raw.trim())
    ? ok(raw.trim())
    : no("a key: up to 512 printable ASCII characters without spaces");

/** Addresses in CIDR form, as a list or as text with commas; a single address means itself alone. */
export const cidrs: Parser<readonly string[]> = (raw) => {
  const list = typeof raw === "string" ? raw.split(",") : raw;
  const expected = "a list of address ranges, such as 192.168.1.0/24";
  if (!Array.isArray(list)) return no(expected);
  const ranges: string[] = [];
  for (const item of list.flatMap((each: unknown) => (typeof each === "string" ? each.split(",") : [each]))) {
    const range = typeof item === "string" ? cidr(item.trim()) : undefined;
    if (range === undefined) return no(`${expected} (${JSON.stringify(item)} is not one)`);
    ranges.push(range);
  }
  return ok(ranges);
};

function cidr(given: string): string | undefined {
  const [, address = "", length] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(given) ?? [];
  const bits = { 0: 0, 4: 32, 6: 128 }[isIP(address)] ?? 0;
  if (bits === 0 || address.includes("%")) return undefined;
  const prefix = length === undefined ? bits : Number(length);
  return prefix <= bits ? `${address}/${prefix}` : undefined;
}

const ALIAS = /^[A-Za-z0-9][A-Za-z0-9._:/-]{0,199}$/;

/** Other names for things: names and what they stand for in a settings file; `name=model`, with commas or repeated, elsewhere. */
export const aliases: Parser<Readonly<Record<string, string>>> = (raw) => {
  const expected = "names and the models they stand for, such as gpt-image-1=sandbox-image";
  const pairs: [unknown, unknown][] = isJsonObject(raw)
    ? Object.entries(raw)
    : [raw].flat(1).flatMap((each) => (typeof each === "string" ? each.split(",").map(pair) : [[each, ""]]));
  const found: Record<string, string> = {};
  for (const [name, model] of pairs) {
    const isAlias = [name, model].every((each) => typeof each === "string" && ALIAS.test(each));
    if (!isAlias) return no(`${expected} (${JSON.stringify(`${name}=${model}`)} is not one)`);
    found[String(name)] = String(model);
  }
  return ok(found);
};

function pair(text: string): [string, string] {
  const at = text.indexOf("=");
  return [text.slice(0, Math.max(at, 0)).trim(), text.slice(at + 1).trim()];
}
