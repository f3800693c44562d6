import { expect, test } from "bun:test";
import fc from "fast-check";
import { canonicalJson } from "../../src/domain/canonical-json.ts";
import type { Json } from "../../src/domain/json.ts";

test("members are sorted by UTF-16 code units and numbers written as ECMAScript does", () => {
  // The sample of RFC 8785, section 3.2.3 and its sorting example of section 3.2.3.
  const value = JSON.parse(
    '{"\\u20ac":"Euro Sign","\\r":"Carriage Return","1":"One","\\u0080":"Control","\\ud83d\\ude00":"Smiley","\\u00f6":"o","\\ufb33":"Hebrew"}',
  ) as Json;
  expect(Object.keys(JSON.parse(canonicalJson(value)) as object).length).toBe(7);
  expect(canonicalJson(value)).toBe(
    '{"\\r":"Carriage Return","1":"One","\u0080":"Control","ö":"o","€":"Euro Sign","😀":"Smiley","\ufb33":"Hebrew"}',
  );
  expect(
    canonicalJson([...(JSON.parse("[333333333.33333329]") as Json[]), 1e30, 4.5, 2e-3, 1e-27, 1.0, -0]),
  ).toBe("[333333333.3333333,1e+30,4.5,0.002,1e-27,1,0]");
});

test("bodies that differ in spelling only are equal, other bodies are not", () => {
  const canonical = (text: string) => canonicalJson(JSON.parse(text) as Json);
  expect(canonical('{"a":1.0,"b":"\\u0041"}')).toBe(canonical('{ "b": "A", "a": 1 }'));
  expect(canonical('{"a":[1,2]}')).not.toBe(canonical('{"a":[2,1]}'));
  expect(canonical('{"a":"1"}')).not.toBe(canonical('{"a":1}'));
  expect(canonical('{"a":"\u00e9"}')).not.toBe(canonical('{"a":"e\u0301"}'));
});

test("the canonical text of any value parses back to it", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(JSON.parse(canonicalJson(value as Json))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

test("the order of members makes no difference, however deep they are", () => {
  const reversed = (value: Json | undefined): Json => {
    if (typeof value !== "object" || value === null) return value ?? null;
    if (Array.isArray(value)) return value.map(reversed);
    return Object.fromEntries(
      Object.entries(value)
        .reverse()
        .map(([name, member]) => [name, reversed(member)]),
    );
  };
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(canonicalJson(reversed(value as Json))).toBe(canonicalJson(value as Json));
    }),
  );
  const inner = { "10": [{ b: 1, a: undefined }], "9": { d: "", c: null } };
  expect(canonicalJson({ y: 2, x: inner })).toBe('{"x":{"10":[{"b":1}],"9":{"c":null,"d":""}},"y":2}');
  expect(canonicalJson({ x: { "1": [{ a: undefined, b: 1 }], c: null }, y: 2 })).toBe(
    '{"x":{"1":[{"b":1}],"c":null},"y":2}',
  );
});
