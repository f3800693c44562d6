import { isIP } from "../is-ip.ts";
import { createSecret, type Secret } from "./secret.ts";

/** What a parser makes of a value from the settings file, or of the text of a flag or a variable. */
export type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  /** `expected` completes "must be …". */
  | { readonly ok: false; readonly expected: string };
/** What a settings file should have for a value, as JSON Schema (2020-12). Every such value is taken. */
export type FileSchema = Readonly<Record<string, unknown>>;
export type Parser<T> = ((raw: unknown) => Parsed<T>) & {
  /** Absent where people are told nothing but the help. */
  readonly schema?: FileSchema | undefined;
  /** A value as the settings file has it; it is the same there unless given. */
  toFile?(value: T): unknown;
};

/** Adds to a parser what a settings file should have, and how a value is written there. */
export function withSchema<T>(
  schema: FileSchema,
  parse: (raw: unknown) => Parsed<T>,
  toFile?: (value: T) => unknown,
): Parser<T> {
  return Object.assign(parse, { schema, ...(toFile && { toFile }) });
}

const TEXTS: FileSchema = { type: "array", items: { type: "string" } };
const seconds = (ms: number) => ms / 1000;
const ok = <T>(value: T): Parsed<T> => ({ ok: true, value });
const no = (expected: string): { ok: false; expected: string } => ({ ok: false, expected });

export const text: Parser<string> = withSchema({ type: "string", pattern: "\\S" }, (raw) =>
  typeof raw === "string" && raw.trim() !== "" ? ok(raw) : no("a text"),
);

export const boolean: Parser<boolean> = withSchema({ type: "boolean" }, (raw) => {
  if (typeof raw === "boolean") return ok(raw);
  const word = typeof raw === "string" ? raw.toLowerCase() : "";
  if (["true", "1", "yes", "on"].includes(word)) return ok(true);
  if (["false", "0", "no", "off"].includes(word)) return ok(false);
  return no("true or false");
});

export function integer(min: number, max: number, reason = ""): Parser<number> {
  return withSchema({ type: "integer", minimum: min, maximum: max }, (raw) => {
    const value = typeof raw === "string" && /^\d+$/.test(raw.trim()) ? Number(raw) : raw;
    const isInRange = typeof value === "number" && Number.isInteger(value) && value >= min && value <= max;
    return isInRange ? ok(value) : no(`an integer from ${min} to ${max}${reason}`);
  });
}

/** Takes a number, with or without a fraction. */
export function number(min: number, max: number): Parser<number> {
  return withSchema({ type: "number", minimum: min, maximum: max }, (raw) => {
    const value = typeof raw === "string" && /^\d+(\.\d+)?$/.test(raw.trim()) ? Number(raw) : raw;
    const isInRange = typeof value === "number" && value >= min && value <= max;
    return isInRange ? ok(value) : no(`a number from ${min} to ${max}`);
  });
}

/** Takes seconds, with or without a fraction. Returns milliseconds. */
export function secondsAsMs(min: number, max: number): Parser<number> {
  const parse = (raw: unknown) => {
    const value = typeof raw === "string" && /^\d+(\.\d+)?$/.test(raw.trim()) ? Number(raw) : raw;
    const isInRange = typeof value === "number" && value >= min && value <= max;
    return isInRange ? ok(Math.round(value * 1000)) : no(`seconds, from ${min} to ${max}`);
  };
  return withSchema({ type: "number", minimum: min, maximum: max }, parse, seconds);
}

const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** Takes a time with its unit, such as 6h, or `off` for none. Returns milliseconds. @param minSec seconds, as `maxSec` is */
export function durationOrOff(minSec: number, maxSec: number): Parser<number | undefined> {
  const parse = (raw: unknown): Parsed<number | undefined> => {
    if (raw === false || raw === "off") return ok(undefined);
    const [, count = "", unit = ""] =
      typeof raw === "string" ? (/^(\d+)([smhd])$/.exec(raw.trim()) ?? []) : [];
    const seconds = Number(count) * (UNIT_SECONDS[unit] ?? Number.NaN);
    const isInRange = seconds >= minSec && seconds <= maxSec;
    return isInRange
      ? ok(seconds * 1000)
      : no(`a time from ${shortTime(minSec)} to ${shortTime(maxSec)}, such as 6h or 1d, or off`);
  };
  const schema = { type: "string", pattern: "^(\\d+[smhd]|off)$" } as const;
  return withSchema(schema, parse, (value) => (value === undefined ? "off" : shortTime(value / 1000)));
}

/** In the largest unit without a rest. */
function shortTime(seconds: number): string {
  const [unit = "s", length = 1] =
    Object.entries(UNIT_SECONDS).findLast(([, each]) => seconds % each === 0) ?? [];
  return `${seconds / length}${unit}`;
}

/** Takes 1 to `most` numbers of seconds, as a list or separated by commas. Returns milliseconds. */
export function listOfSecondsAsMs(limits: Readonly<Record<"most" | "min" | "max", number>>) {
  const { most, min, max } = limits;
  const one = secondsAsMs(min, max);
  const parse = (raw: unknown): Parsed<readonly number[]> => {
    const items = [raw].flat(1).flatMap((item) => (typeof item === "string" ? item.split(",") : [item]));
    const list = items.map(one);
    const values = list.flatMap((item) => (item.ok ? [item.value] : []));
    return values.length === items.length && values.length <= most
      ? ok(values)
      : no(`1 to ${most} numbers of seconds, each from ${min} to ${max}, such as 5,60`);
  };
  const schema = { type: "array", items: one.schema, minItems: 1, maxItems: most };
  return withSchema(schema, parse, (values) => values.map(seconds));
}

export function oneOf<const T extends string>(choices: readonly T[]): Parser<T> {
  return withSchema({ enum: choices }, (raw) => {
    const found = choices.find((choice) => choice === raw);
    return found === undefined ? no(`one of ${choices.join(", ")}`) : ok(found);
  });
}

/** Takes some of the choices, as a list or separated by commas. */
export function listOf(choices: readonly string[]): Parser<readonly string[]> {
  return withSchema({ type: "array", items: { enum: choices } }, (raw) => {
    const items = [raw].flat(1).flatMap((item) => (typeof item === "string" ? item.split(",") : [item]));
    const names = items.map((item) => (typeof item === "string" ? item.trim() : ""));
    return names.every((name) => choices.includes(name)) ? ok(names) : no(`some of ${choices.join(", ")}`);
  });
}

/** The same, or `none` alone. */
export function listOrNone<const T extends string>(choices: readonly T[]): Parser<readonly T[]> {
  const schema = { oneOf: [{ const: "none" }, { type: "array", items: { enum: choices } }] };
  const parse = (raw: unknown): Parsed<readonly T[]> => {
    const items = [raw].flat(1).flatMap((item) => (typeof item === "string" ? item.split(",") : [item]));
    if (items.length === 1 && items[0] === "none") return ok([]);
    const names = items.map((item) =>
      choices.find((choice) => typeof item === "string" && choice === item.trim()),
    );
    const known = names.filter((name) => name !== undefined);
    return known.length === names.length
      ? ok([...new Set(known)])
      : no(`some of ${choices.join(", ")}, or none`);
  };
  return withSchema(schema, parse, (names) => (names.length === 0 ? "none" : names));
}

/** Takes a number of seconds in a range, or `off`. Returns milliseconds, undefined for off. */
export function secondsOrOffAsMs(min: number, max: number): Parser<number | undefined> {
  const one = secondsAsMs(min, max);
  const parsed = portOrOff(one);
  return withSchema(
    parsed.schema ?? {},
    (raw) => parsed(raw),
    (value) => (value === undefined ? "off" : seconds(value)),
  );
}

/** Takes a port, or `off` for none. */
export function portOrOff(port: Parser<number>): Parser<number | undefined> {
  const parse = (raw: unknown): Parsed<number | undefined> => {
    if (raw === false || raw === "off") return ok(undefined);
    const parsed = port(raw);
    return parsed.ok ? parsed : no(`${parsed.expected}, or off`);
  };
  return withSchema(
    { anyOf: [port.schema ?? {}, { enum: ["off", false] }] },
    parse,
    (value) => value ?? "off",
  );
}

/** Takes a host name or an address to listen on, without scheme and port. */
export const host: Parser<string> = withSchema({ type: "string", examples: ["127.0.0.1"] }, (raw) => {
  const given = typeof raw === "string" ? raw.replace(/^\[(.*)\]$/, "$1") : "";
  const isHost = isIP(given) !== 0 || /^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/.test(given);
  return isHost ? ok(given) : no("a host name or an address without scheme and port, such as 127.0.0.1");
});

/** Where to listen. */
export interface ListenAddress {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
}

/** Takes a host and a port, or `off` for none. */
export const listenAddressOrOff: Parser<ListenAddress | undefined> = withSchema(
  { anyOf: [{ type: "string", pattern: ":\\d{1,5}$" }, { enum: ["off", false] }] },
  readListenAddress,
  (value) =>
    value === undefined
      ? "off"
      : `${value.host.includes(":") ? `[${value.host}]` : value.host}:${value.port}`,
);

function readListenAddress(raw: unknown): Parsed<ListenAddress | undefined> {
  if (raw === false || raw === "off") return ok(undefined);
  const [, name, digits] = (typeof raw === "string" && /^(.*):(\d{1,5})$/.exec(raw.trim())) || [];
  const parsed = host(name);
  const port = Number(digits);
  const isWhole = parsed.ok && port <= 65_535 && (name?.startsWith("[") || !name?.includes(":"));
  return isWhole
    ? ok({ host: parsed.value, port })
    : no("a host and a port, such as 127.0.0.1:9464 or [::1]:9464, or off");
}

/** Takes a scheme and a host. */
export const origin: Parser<string> = withSchema({ type: "string", format: "uri" }, (raw) => {
  const url = plainUrl(raw);
  return url?.pathname === "/"
    ? ok(url.origin)
    : no("a scheme and host without a path, such as https://media.example.com");
});

/** Takes the origins of web pages, as a list or separated by commas, or `*` for any. */
export const origins: Parser<readonly string[]> = withSchema(TEXTS, (raw) => {
  const list = [raw].flat(1).flatMap((each) => (typeof each === "string" ? each.split(",") : [each]));
  const found: string[] = [];
  for (const each of list) {
    const given = typeof each === "string" ? each.trim() : each;
    const parsed = given === "*" ? ok("*") : origin(given);
    if (!parsed.ok || (given !== "*" && parsed.value.includes("*")))
      return no(`* or origins such as https://app.example.com (${JSON.stringify(each)} is not one)`);
    found.push(parsed.value);
  }
  return ok(found);
});

/** Takes the address of an API, which may have a path. Returns it without a trailing slash. */
export const apiUrl: Parser<string> = withSchema({ type: "string", format: "uri" }, (raw) => {
  const url = plainUrl(raw);
  return url !== undefined
    ? ok(url.href.replace(/\/+$/, ""))
    : no("an http or https URL without user, query or fragment, such as https://api.example.com/v1");
});

/** Takes the address of a proxy, which may have a user and a password. Never show what was given. */
export const proxyUrl: Parser<Secret> = withSchema({ type: "string", format: "uri" }, (raw) => {
  const url = typeof raw === "string" ? URL.parse(raw.trim()) : null;
  const isProxy =
    url !== null && /^https?:$/.test(url.protocol) && url.pathname + url.search + url.hash === "/";
  return isProxy
    ? ok(createSecret(url.href.replace(/\/$/, "")))
    : no("an http or https URL without a path, such as http://user:password@proxy.example.com:3128");
});

/** Reads an http or https URL without user, query and fragment. */
function plainUrl(raw: unknown): URL | undefined {
  const url = typeof raw === "string" ? URL.parse(raw.trim()) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined;
  return url.search + url.hash + url.username + url.password === "" ? url : undefined;
}

/** Takes a credential. Never show what was given: it may be a key with a typing error. */
export const apiKey: Parser<string> = (raw) =>
  typeof raw === "string" && /^[\x21-\x7e]{1,512}$/.test(raw.trim())
    ? ok(raw.trim())
    : no("a key: up to 512 printable ASCII characters without spaces");

const PEM = /^-----BEGIN PRIVATE KEY-----\n[A-Za-z0-9+/=\n]{64,16000}\n-----END PRIVATE KEY-----$/;

/** Takes a credential, or a private key in PEM, whose line breaks may be written `\n` as in the files of service accounts. */
export const keyOrPem: Parser<string> = (raw) => {
  const lines = typeof raw === "string" ? raw.trim().replaceAll("\\n", "\n").split(/\s*\n/) : [];
  const pem = lines.filter((line) => line !== "").join("\n");
  if (PEM.test(pem)) return ok(pem);
  const parsed = apiKey(raw);
  return parsed.ok ? parsed : no(`${parsed.expected}; or a private key in PEM (PKCS #8, BEGIN PRIVATE KEY)`);
};

/** Takes a key of our own, or a passphrase. Never show what was given. */
export const secretKey: Parser<string> = (raw) =>
  typeof raw === "string" && /^[\x21-\x7e]{20,512}$/.test(raw.trim())
    ? ok(raw.trim())
    : no("32 bytes in base64, or a passphrase of 20 to 512 printable ASCII characters without spaces");

/** Takes address ranges in CIDR form, as a list or separated by commas. A single address is a range of one. */
export const cidrs: Parser<readonly string[]> = withSchema(TEXTS, (raw) => {
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
});

function cidr(given: string): string | undefined {
  const [, address = "", length] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(given) ?? [];
  const bits = { 0: 0, 4: 32, 6: 128 }[isIP(address)] ?? 0;
  if (bits === 0 || address.includes("%")) return undefined;
  const prefix = length === undefined ? bits : Number(length);
  return prefix <= bits ? `${address}/${prefix}` : undefined;
}
