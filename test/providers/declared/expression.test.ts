import { describe, expect, test } from "bun:test";
import { ABSENT, compileExpression } from "../../../src/providers/declared/expression.ts";
import { ExpressionError } from "../../../src/providers/declared/fences.ts";

const NAMES = new Set(["body", "params", "now", "file", "prompt"]);

function evaluate(source: string, scope: Record<string, unknown> = {}): unknown {
  return compileExpression(source, NAMES).evaluate(scope);
}

function refusal(source: string, scope: Record<string, unknown> = {}): ExpressionError {
  try {
    evaluate(source, scope);
  } catch (error) {
    if (error instanceof ExpressionError) return error;
    throw error;
  }
  throw new Error(`${source} is not refused`);
}

test.each([
  ["body.code == 0", { body: { code: 0 } }, true],
  ["params.?seed", { params: { seed: 0 } }, 0],
  ["params.?seed", { params: {} }, ABSENT],
  ["prompt", {}, ABSENT],
  ['body.?status.orValue("none")', { body: {} }, "none"],
  ["string(int(params.duration))", { params: { duration: 5 } }, "5"],
  ["body.?progress.orValue(0.0) * 100.0", { body: { progress: 0.5 } }, 50],
  ['"a-b-c".replace("-", "_")', {}, "a_b_c"],
  ['"a,b".split(",").join("+")', {}, "a+b"],
  ['json("{\\"a\\": [1]}").a', {}, [1]],
  ['uuid("a")', {}, "ca978112-ca1b-8dca-bac2-31b39a23dc4d"],
  ['{"1:1": "1024x1024"}[params.ratio]', { params: { ratio: "1:1" } }, "1024x1024"],
] as const)("%s of %j", (source, scope, value) => {
  expect(evaluate(source, scope)).toEqual(value);
});

describe("what is refused, and where", () => {
  test.each([
    ["bdy.status", 'did you mean "body"?', 0],
    ["key", "not known here", 0],
    ['"a".matches("(a+)+$")', 'calls "matches"', 0],
    ["cel.bind(a, 1, a)", "not known here", 0],
    ['timestamp("2026-01-01T00:00:00Z")', "no function here", 0],
    ["[1].map(a, [1].map(b, [1].map(c, 1)))", "more than two", 22],
    ["body.list.map(a, a + a)", "may grow without end", 17],
    ["body.list.map(a, body.list.map(b, body.list.size() + b.a + b.b))", "may grow", 34],
    ["body.a +", "Unexpected token", 8],
    ["body.list.map(a, json(a))", "takes too long", 0],
    ["body.list.map(a, uuid(a))", "takes too long", 0],
    ["body.list.filter(a, a in body.others)", "takes too long", 0],
    ["body.list.map(a, [a.size(), a.size(), a.size(), a.size(), a.size()])", "takes too long", 0],
    [`[${"1, ".repeat(199)}1].map(a, [${"1, ".repeat(199)}1].map(b, [a, b, a]))`, "takes too long", 0],
    [
      "(true ? body.l + body.l + body.l + body.l : []).map(a, body.l.map(b, [a, b, a, b, a, b]))",
      "takes too",
      0,
    ],
    [Array(33).fill("body.list").join(" + "), "more than 32 values", 0],
  ])("%s", (source, message, offset) => {
    const error = refusal(source);
    expect(error.message).toContain(message);
    expect(error.offset).toBe(offset);
  });

  test("numbers of JSON as integers, with the way out", () => {
    expect(refusal("body.a * 100", { body: { a: 1 } }).message).toContain("write 100.0");
  });

  test("members that are not the value's own", () => {
    for (const member of ["constructor", "toString", "hasOwnProperty"])
      expect(refusal(`body.${member}`, { body: {} }).message).toContain("No such key");
  });
});

describe("what an answer of an upstream can be", () => {
  test("lists are cut, and shorter inside two macros", () => {
    const body = { list: Array(100_000).fill(1) };
    expect(evaluate("body.list.size()", { body })).toBe(1000n);
    expect(evaluate("body.list.map(a, body.list.map(b, a)).size()", { body })).toBe(60n);
    expect(body.list).toHaveLength(100_000);
  });

  test("texts are cut, and joins and replacements are bounded", () => {
    const body = { text: "a".repeat(1_000_000), list: Array(1_000).fill("a".repeat(1_000)) };
    expect(evaluate("body.text.size()", { body })).toBe(65_536n);
    expect(refusal('body.list.join("")', { body }).message).toContain("65536");
    expect(refusal('body.text.replace("a", "aaaaaaaa")', { body }).message).toContain("4096 times");
    const spaced = { text: "a               ".repeat(4_000) };
    expect(refusal('body.text.replace("a", "aaaaaaaa")', { body: spaced }).message).toContain("65536");
    expect(evaluate('body.text.split("").size()', { body })).toBe(1000n);
  });

  test("mappings are cut too, and texts and lists shorter where they are gone through again and again", () => {
    const many = Object.fromEntries(Array.from({ length: 30_000 }, (_, i) => [`k${i}`, i]));
    const body = { many, text: "a".repeat(100_000), words: "a ".repeat(900), list: [1] };
    expect(evaluate("body.many.map(key, key).size()", { body })).toBe(1000n);
    expect(evaluate("body.many.map(a, body.many.map(b, a)).size()", { body })).toBe(60n);
    expect(evaluate("body.list.map(a, body.text.size())", { body })).toEqual([4096n]);
    expect(evaluate('body.words.split(" ").size()', { body })).toBe(901n);
    const nested = 'body.list.map(a, body.words.split(" ").map(b, b).size())';
    expect(evaluate(nested, { body })).toEqual([60n]);
    expect(refusal('body.list.map(a, body.words.replace("a", "b"))', { body }).message).toContain(
      "256 times",
    );
  });

  test.each([
    ['body.?status.orValue("none")', "none"],
    ["has(body.status)", false],
    ["body[?'status']", ABSENT],
    ['body.list.map(each, each.?status.orValue("none"))', ["none", "none"]],
    ['json(body.text).?status.orValue("none")', "none"],
    // It knows null.
    ["body.?status.orValue(null) == null", true],
    ["has(body.status) && body.status == null", true],
    // It asks for no presence.
    ["body.status", null],
    // What was asked for is as it was given.
    ["params.?seed", null],
  ])("a member that is null is absent to who asks whether it is there: %s", (source, value) => {
    const body = { status: null, list: [{ status: null }, null], text: '{"status": null}' };
    expect(evaluate(source, { body, params: { seed: null } })).toEqual(value);
  });

  test("lists in a text of JSON are cut too", () => {
    const body = { text: JSON.stringify(Array(2_000).fill(1)) };
    expect(evaluate("json(body.text).size()", { body })).toBe(1000n);
  });

  test("a prototype is a member like any other", () => {
    const body: unknown = JSON.parse('{"__proto__": {"polluted": "yes"}}');
    expect(evaluate("body.__proto__.polluted", { body })).toBe("yes");
    expect(({} as { polluted?: string }).polluted).toBeUndefined();
  });
});
