import { describe, expect, test } from "bun:test";
import { compileCall, wordCall } from "../../../src/providers/declared/call.ts";
import { Compiling } from "../../../src/providers/declared/compiling.ts";
import type { CallForm } from "../../../src/providers/declared/form.ts";

const NAMES = new Set(["prompt", "body", "file"]);

/** A call in its words. */
async function worded(form: CallForm, scope: Record<string, unknown> = {}) {
  const compiling = new Compiling();
  const call = compileCall(compiling, form, NAMES, ["call"]);
  expect(compiling.problems).toEqual([]);
  const { url, headers, body } = await wordCall(call, scope);
  return { url, headers, text: new TextDecoder().decode(body?.bytes), type: body?.type ?? "" };
}

const json = async (value: unknown, scope = {}) =>
  JSON.parse((await worded({ post: "/", json: value }, scope)).text);

describe("in JSON", () => {
  test.each([
    [
      "mixed types keep theirs",
      { a: "${body.a}", b: "${body.b}", c: "${body.c}", d: "${body.d}" },
      { a: 0, b: "", c: false, d: null },
      { a: 0, b: "", c: false, d: null },
    ],
    [
      "a text around numbers is a text",
      { a: "v${body.n}-${body.i}" },
      { n: 30.0, i: 9007199254740993n },
      { a: "v30-9007199254740993" },
    ],
    ["a text with an absent middle is absent", { a: "x${body.?gone}y", b: 1 }, {}, { b: 1 }],
    [
      "a list leaves absent entries out",
      { a: ["${body.?gone}", "${body.x}"] },
      { x: [1, null] },
      { a: [[1, null]] },
    ],
    ["a mapping of absent members is absent", { a: { b: "${body.?gone}" }, c: 0 }, {}, { c: 0 }],
    [
      "keys with dots and other alphabets are keys",
      { "a.b": "${body['ü.狐']}" },
      { "ü.狐": "🦊" },
      { "a.b": "🦊" },
    ],
    [
      "messages of a chat are no files",
      { messages: [{ role: "user", content: "${body.text}" }] },
      { text: "A fox" },
      { messages: [{ role: "user", content: "A fox" }] },
    ],
    ["a written ${ is one", { a: "$${body.x}" }, {}, { a: "${body.x}" }],
    [
      "a prototype is a key",
      { a: "${body}" },
      JSON.parse('{"__proto__": {"x": 1}}'),
      { a: JSON.parse('{"__proto__": {"x": 1}}') },
    ],
  ])("%s", async (_, value, body, sent) => {
    expect(await json(value, { body })).toEqual(sent);
  });

  test.each([
    ["no number", "${0.0 / body.zero}", "gives NaN, which JSON does not have"],
    [
      "an integer that doubles do not hold",
      "${9007199254740993}",
      "9007199254740993, which numbers of JSON do not hold exactly",
    ],
    ["null inside a text", "a ${body.nothing}", "must give a text or a number"],
    ["a list inside a text", "a ${body.list}", "must give a text or a number"],
    ["a body of megabytes", Array(40).fill("${body.long}"), "more than 1048576 characters"],
  ])("%s is refused", async (_, value, message) => {
    const body = { zero: 0, nothing: null, list: [1], long: "a".repeat(60_000) };
    await expect(json({ a: value }, { body })).rejects.toThrow(message);
  });
});

describe("an address", () => {
  test.each([
    [
      "names of models keep their slashes",
      "/m/${prompt}",
      "black-forest-labs/flux",
      "/m/black-forest-labs/flux",
    ],
    ["what ends a path is encoded", "/m/${prompt}/x", "a?b#c&d", "/m/a%3Fb%23c%26d/x"],
    ["percent signs are encoded", "/m/${prompt}", "%2e%2e/%2F", "/m/%252e%252e/%252F"],
    ["backslashes and line breaks are encoded", "/m/${prompt}", "..\\..\r\n", "/m/..%5C..%0D%0A"],
    ["half a letter is replaced", "/m/${prompt}", "\ud800", "/m/%EF%BF%BD"],
    ["other alphabets are encoded", "/m/${prompt}", "狐", "/m/%E7%8B%90"],
  ])("%s", async (_, get, prompt, url) => {
    expect((await worded({ get }, { prompt })).url).toBe(url);
  });

  test.each([
    ["/m/${prompt}", "../x", 'is "." or ".."'],
    ["/m/${prompt}", "x/./y", 'is "." or ".."'],
    ["/m/${prompt}", "", "is empty"],
    ["/m/${prompt}", undefined, "no text"],
    ["/m/${prompt}", ["x"], "no text"],
    ["${prompt}", "/m/../x", 'is "." or ".."'],
    ["${prompt}", "/m/%2E./x", 'is "." or ".."'],
    ["${prompt}", "/m\\..\\x", 'is "." or ".."'],
    ["${prompt}", "", "no text"],
  ])("%s of %j is refused", async (get, prompt, message) => {
    await expect(worded({ get }, { prompt })).rejects.toThrow(message);
  });

  test("lists repeat their parameter, and absent ones are left out", async () => {
    const query = { a: ["x y", "${body.n}"], b: "${body.list}", c: "${body.?gone}", d: "${body.flag}" };
    const body = { n: 2, list: ["&", "狐"], flag: false };
    expect((await worded({ get: "/m?z=1", query }, { body })).url).toBe(
      "/m?z=1&a=x+y&a=2&b=%26&b=%E7%8B%90&d=false",
    );
  });

  test.each([{ x: 1 }, null, [{ x: 1 }], [null]])("%j is no parameter and no field", async (value) => {
    const body = { value };
    await expect(worded({ get: "/", query: { a: "${body.value}" } }, { body })).rejects.toThrow(
      "must be a text or a number",
    );
    await expect(worded({ post: "/", form: { a: "${body.value}" } }, { body })).rejects.toThrow(
      "must be a text or a number",
    );
  });
});

describe("a header", () => {
  test.each(["a\r\nX-Admin: 1", "a\nb", "a\u0000b", "狐"])("cannot hold %j", async (prompt) => {
    await expect(worded({ get: "/", headers: { "X-Text": "${prompt}" } }, { prompt })).rejects.toThrow(
      'the header "X-Text"',
    );
  });

  test("holds numbers and texts, and is left out when absent", async () => {
    const headers = { "X-A": "${body.n}", "X-B": "é ${body.n}", "X-C": "${body.?gone}" };
    expect((await worded({ get: "/", headers }, { body: { n: 3.0 } })).headers).toEqual({
      "X-A": "3",
      "X-B": "é 3",
    });
  });
});

test("a urlencoded body repeats the names of lists", async () => {
  const form = { a: "${body.list}", "ü&": "x=y\r\n", n: 1.5 };
  const { text, type } = await worded({ post: "/", form }, { body: { list: ["1", "2"] } });
  expect(type).toBe("application/x-www-form-urlencoded");
  expect(text).toBe("a=1&a=2&%C3%BC%26=x%3Dy%0D%0A&n=1.5");
});

test("names and values of parts can hold line breaks and other alphabets without making parts of their own", async () => {
  const value = '\r\n--x\r\nContent-Disposition: form-data; name="admin"\r\n\r\n1 狐';
  const multipart = { 'a\r\nb"狐': "${prompt}", list: "${body.list}", map: "${body.map}" };
  const { text, type } = await worded(
    { post: "/", multipart },
    { prompt: value, body: { list: [1, "ü"], map: { x: [1] } } },
  );
  const read = await new Response(text, { headers: { "content-type": type } }).formData();
  expect([...read.keys()]).toHaveLength(4);
  expect(read.get("admin")).toBeNull();
  expect([...read.values()][0]).toBe(value);
  expect(read.getAll("list")).toEqual(["1", "ü"]);
  expect(read.get("map")).toBe('{"x":[1]}');
});
