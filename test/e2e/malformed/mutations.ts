import fc from "fast-check";
import type { Json, JsonObject } from "../../../src/domain/json.ts";
import type { Header } from "./request.ts";

/** Values that readers of JSON, of numbers and of addresses stumble over. */
const NASTY: readonly Json[] = [
  ...[null, true, false, 0, -0, -1, 1.5, 1e308, -1e308, 2 ** 53, 2 ** 31, 2 ** 32],
  ...[
    "",
    " ",
    "0",
    "null",
    "NaN",
    "\u0000",
    "\ud800",
    "\u202e",
    "😀",
    "x".repeat(5000),
    "__proto__",
    "16x16",
    "../..",
    "%00",
  ],
  ...[
    "data:image/png;base64,",
    "data:image/png;base64,AAAA",
    "https://127.0.0.1/x",
    "https://[::1]/",
    "file:///etc/passwd",
    "https:",
  ],
  ...[[], {}, [[]], [null], [[[[[[]]]]]], { "": null }, { image_url: 7 }, { toString: 1 }, { length: 10 }],
];
const NAMES = [
  "__proto__",
  "constructor",
  "toString",
  "",
  "length",
  "model",
  "prompt",
  "n",
  "image_url",
  "\u0000",
  "x".repeat(300),
];

const nasty: fc.Arbitrary<Json> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...NASTY) },
  // It makes nothing but JSON values.
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<Json> },
);

/** What is done to one place of a value. */
type Edit =
  | { readonly kind: "replace"; readonly value: Json }
  | { readonly kind: "remove" }
  | { readonly kind: "add"; readonly name: string; readonly value: Json }
  | { readonly kind: "rename"; readonly name: string };

const edit: fc.Arbitrary<Edit> = fc.oneof(
  fc.record({ kind: fc.constant("replace" as const), value: nasty }),
  fc.record({ kind: fc.constant("remove" as const) }),
  fc.record({ kind: fc.constant("add" as const), name: nameOf(), value: nasty }),
  fc.record({ kind: fc.constant("rename" as const), name: nameOf() }),
);

function nameOf(): fc.Arbitrary<string> {
  return fc.oneof(fc.constantFrom(...NAMES), fc.string({ maxLength: 20 }));
}

/** Texts of good bodies with up to three places changed, and sometimes a few bytes of the text. */
export function mutatedJson(bodies: readonly JsonObject[]): fc.Arbitrary<Uint8Array> {
  return fc
    .record({
      body: fc.constantFrom(...bodies),
      edits: fc.array(fc.tuple(fc.nat(), edit), { minLength: 1, maxLength: 3 }),
      bytes: fc.option(byteEdits(JSON_TOKENS), { freq: 3, nil: [] }),
    })
    .map(({ body, edits, bytes }) => {
      const changed = edits.reduce<Json>((value, [place, change]) => applyEdit(value, place, change), body);
      return editBytes(Buffer.from(JSON.stringify(changed)), bytes);
    });
}

/** Changes one member of a value; which one, `place` says. */
function applyEdit(value: Json, place: number, change: Edit): Json {
  if (typeof value !== "object" || value === null) return change.kind === "replace" ? change.value : value;
  const entries: [string, Json][] = Object.entries(value).map(([name, member]) => [name, member ?? null]);
  const at = entries.length === 0 ? -1 : place % entries.length;
  const [name, member] = entries[at] ?? ["", null];
  const isDeeper = typeof member === "object" && member !== null && Math.floor(place / 7) % 2 === 0;
  if (isDeeper) entries[at] = [name, applyEdit(member, Math.floor(place / 3), change)];
  else if (change.kind === "add") entries.push([change.name, change.value]);
  else if (change.kind === "remove") entries.splice(at, 1);
  else if (change.kind === "rename") entries[at] = [change.name, member];
  else entries[at] = [name, change.value];
  if (Array.isArray(value)) return entries.map(([, each]) => each);
  const object: Record<string, Json> = {};
  // A member of its own, whatever its name.
  for (const [key, each] of entries)
    Object.defineProperty(object, key, { value: each, enumerable: true, configurable: true });
  return object;
}

const JSON_TOKENS = [
  '"',
  "{",
  "}",
  "[",
  "]",
  ":",
  ",",
  "\\u0000",
  "\\ud800",
  "\\",
  "\xff",
  "\xc3",
  "\0",
  "\ufeff",
  "1e999",
  "//",
];
const FORM_TOKENS = [
  "\r\n",
  "\r\n\r\n",
  "--",
  "\r",
  "\n",
  "\0",
  "\xff",
  '"',
  ";",
  "=",
  ":",
  "filename*=UTF-8''x",
  "; filename=",
  "; name=x",
  "Content-Disposition: form-data",
];

type ByteEdit = readonly [at: number, length: number, put: string];

function byteEdits(tokens: readonly string[]): fc.Arbitrary<ByteEdit[]> {
  const put = fc.oneof(fc.constantFrom(...tokens), fc.constant(""), fc.string({ maxLength: 5 }));
  // Most edits are small; some take away a good part of the rest.
  const length = fc.oneof({ weight: 5, arbitrary: fc.nat(3) }, { weight: 1, arbitrary: fc.nat(400) });
  return fc.array(fc.tuple(fc.nat(), length, put), { minLength: 1, maxLength: 4 });
}

function editBytes(bytes: Buffer, edits: readonly ByteEdit[]): Buffer {
  return edits.reduce((whole, [place, length, put]) => {
    const at = whole.length === 0 ? 0 : place % whole.length;
    return Buffer.concat([whole.subarray(0, at), Buffer.from(put, "latin1"), whole.subarray(at + length)]);
  }, bytes);
}

/** A good form with a few bytes changed, anywhere or next to its boundaries. */
export function mutatedForm(form: Buffer, boundary: string): fc.Arbitrary<Uint8Array> {
  return byteEdits([...FORM_TOKENS, `--${boundary}`, `\r\n--${boundary}--`, `\r\n--${boundary}\r\n`]).map(
    (edits) => editBytes(form, edits),
  );
}

const HEADER_NAMES = [
  ...[
    "Authorization",
    "x-api-key",
    "x-goog-api-key",
    "api-key",
    "Host",
    "Content-Type",
    "Content-Encoding",
    "Accept",
  ],
  ...[
    "Idempotency-Key",
    "X-Request-ID",
    "X-Forwarded-For",
    "X-Forwarded-Proto",
    "X-Forwarded-Host",
    "Forwarded",
    "Range",
  ],
  ...[
    "If-None-Match",
    "If-Range",
    "Last-Event-ID",
    "Origin",
    "Cookie",
    "Upgrade",
    "Expect",
    "TE",
    "Trailer",
    "X-HTTP-Method-Override",
  ],
];
const HEADER_VALUES = [
  ...[
    "",
    " ",
    "Bearer",
    "Bearer x",
    "Basic Og==",
    "null",
    "application/json",
    "multipart/form-data",
    "multipart/form-data; boundary=x",
  ],
  ...[
    "application/json; charset=utf-16",
    "bytes=0-",
    "bytes=-1",
    "bytes=9-1,2-3",
    "*",
    '"x"',
    "W/",
    "100-continue",
    "websocket",
    "gzip",
  ],
  ...[
    "127.0.0.1",
    "127.0.0.1, unknown, [::1]:x",
    "https",
    "evil.example",
    "[",
    "for=_x;proto=y",
    "1",
    "-1",
    "9".repeat(400),
  ],
];

/** Headers of names that mean something, with values that do not. No byte in them ends a line. */
export function oddHeaders(): fc.Arbitrary<Header[]> {
  const character = fc.integer({ min: 0x20, max: 0xff }).filter((code) => code !== 0x7f);
  const noise = fc.array(character, { maxLength: 60 }).map((codes) => String.fromCharCode(...codes));
  const value = fc.oneof(
    { weight: 2, arbitrary: fc.constantFrom(...HEADER_VALUES) },
    { weight: 1, arbitrary: noise },
  );
  return fc.array(fc.tuple(fc.constantFrom(...HEADER_NAMES), value), { minLength: 1, maxLength: 5 });
}

const SEGMENTS = [
  ...[
    "v1",
    "compat",
    "admin",
    "images",
    "videos",
    "generations",
    "edits",
    "status",
    "tasks",
    "models",
    "assets",
    "keys",
    "docs",
  ],
  ...[
    "",
    ".",
    "..",
    "%2e%2e",
    "%2f",
    "%00",
    "%",
    "%zz",
    "%ff",
    "x",
    ":task_id",
    "*",
    "task_01jd0000000000000000000000",
    "healthz",
  ],
];
const QUERIES = [
  "",
  "?",
  "?key=",
  "?wait=0",
  "?wait=x",
  "?limit=%00",
  "?limit=5&limit=x",
  "?after=..",
  "?__proto__=1",
  "?&&=&",
  "?%",
  "??",
];

/** Paths of parts that occur, in any order, with queries that do. */
export function oddPaths(): fc.Arbitrary<string> {
  const path = fc.array(fc.constantFrom(...SEGMENTS), { maxLength: 6 }).map((parts) => `/${parts.join("/")}`);
  return fc.tuple(path, fc.constantFrom(...QUERIES)).map(([start, query]) => start + query);
}
