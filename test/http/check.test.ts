import { expect, test } from "bun:test";
import { AppError } from "../../src/domain/errors.ts";
import type { JsonObject } from "../../src/domain/json.ts";
import { check, checkQuery } from "../../src/http/wire/check.ts";

const SCHEMA = {
  type: "object",
  required: ["name"],
  properties: {
    name: { type: "string", minLength: 1, maxLength: 5 },
    limit: { type: ["integer", "null"], minimum: 1 },
    kind: { type: "string", enum: ["image", "video"], default: "image" },
    names: { type: "object", additionalProperties: { type: "string" } },
    parts: {
      type: "array",
      maxItems: 3,
      items: {
        type: "object",
        required: ["part_url"],
        properties: { part_url: { type: "string", pattern: "^https:", "x-must": "be an https URL" } },
        additionalProperties: false,
      },
    },
  },
  additionalProperties: false,
} as const satisfies JsonObject;

const QUERY = {
  type: "object",
  properties: {
    limit: { type: "integer", minimum: 1, maximum: 100 },
    wait: { type: "number", minimum: 0 },
    all: { type: "boolean" },
  },
} as const satisfies JsonObject;

function refusal(run: () => unknown): [string, string | undefined] {
  try {
    run();
  } catch (error) {
    if (error instanceof AppError && error.code === "invalid_request") return [error.message, error.param];
    throw error;
  }
  throw new Error("It was taken.");
}

test("a body that fits is taken and stays as it is", () => {
  const body = { name: "abc", limit: null, names: { any: "x" }, parts: [{ part_url: "https://a" }] };
  const before = structuredClone(body);
  check(SCHEMA, body);
  expect(body).toEqual(before);
});

test.each([
  [{}, "name is required.", "name"],
  [{ name: "" }, "name must have 1 to 5 characters; got 0.", "name"],
  [{ name: 5 }, "name must be a string; got 5.", "name"],
  [{ name: "a", limit: "5" }, 'limit must be an integer or null; got "5".', "limit"],
  [{ name: "a", limit: 0 }, "limit must be at least 1; got 0.", "limit"],
  [{ name: "a", kind: "audio" }, 'kind must be one of "image", "video"; got "audio".', "kind"],
  [{ nam: "a" }, 'Unknown field "nam". Did you mean "name"?', "nam"],
  [
    { name: "a", colour: 1 },
    'Unknown field "colour". The body takes name, limit, kind, names, parts.',
    "colour",
  ],
  [{ name: "a", names: { x: 1 } }, "names.x must be a string; got 1.", "names.x"],
  [{ name: "a", parts: "x" }, 'parts must be a list; got "x".', "parts"],
  [{ name: "a", parts: [{}, {}, {}, {}] }, "parts must have at most 3 entries; got 4.", "parts"],
  [
    { name: "a", parts: [{ part_url: "https://a" }, {}] },
    "parts[1].part_url is required.",
    "parts[1].part_url",
  ],
  [
    { name: "a", parts: [{ partUrl: "https://a" }] },
    'Unknown field "parts[0].partUrl". Did you mean "parts[0].part_url"?',
    "parts[0].partUrl",
  ],
  [
    { name: "a", parts: [{ part_url: "z".repeat(90) }] },
    `parts[0].part_url must be an https URL; got "${"z".repeat(80)}…".`,
    "parts[0].part_url",
  ],
] as [JsonObject, string, string][])("body %# is refused with its field named", (body, message, param) => {
  expect(refusal(() => check(SCHEMA, body))).toEqual([message, param]);
});

test("a query is read as its schema says, and the credential in it is not seen", () => {
  const query = new URLSearchParams("limit=20&wait=0.5&all=false&key=sk&api-version=1");
  expect(checkQuery(QUERY, query)).toEqual({ limit: 20, wait: 0.5, all: false });
});

test.each([
  ["limit=ten", 'limit must be an integer; got "ten".', "limit"],
  ["limit=", 'limit must be an integer; got "".', "limit"],
  ["limit=1.5", "limit must be an integer; got 1.5.", "limit"],
  ["limit=101", "limit must be 1 to 100; got 101.", "limit"],
  ["limit=1&limit=2", "limit is given twice.", "limit"],
  ["all=yes", 'all must be true or false; got "yes".', "all"],
])("the query %s is refused", (query, message, param) => {
  expect(refusal(() => checkQuery(QUERY, new URLSearchParams(query)))).toEqual([message, param]);
});

test("a parameter that a closed query does not have is refused", () => {
  const closed = { ...QUERY, additionalProperties: false };
  expect(refusal(() => checkQuery(closed, new URLSearchParams("limt=5")))).toEqual([
    'Unknown field "limt". Did you mean "limit"?',
    "limt",
  ]);
  expect(refusal(() => checkQuery(closed, new URLSearchParams("__proto__=5")))[1]).toBe("__proto__");
});
