import { expect, test } from "bun:test";
import { objectOfFields } from "../../../src/http/facades/form-fields.ts";

const read = (...fields: readonly (readonly [string, string])[]) =>
  objectOfFields(fields.map(([name, value]) => ({ name, value })));

test("fields with brackets are members of objects and entries of lists", () => {
  expect(
    read(
      ["prompt", "x"],
      ["sandbox[delay_ms]", "0"],
      ["sandbox[outcome]", "failed"],
      ["a[]", "1"],
      ["a[]", "2"],
    ),
  ).toEqual({ prompt: "x", sandbox: { delay_ms: "0", outcome: "failed" }, a: ["1", "2"] });
});

test("empty fields are left out, but for the prompt", () => {
  expect(read(["size", ""], ["prompt", ""], ["a[b]", ""])).toEqual({ prompt: "" });
});

test("names of any kind are names", () => {
  const odd = read(["__proto__", "x"], ["a[b][c]", "y"], ["[", "z"], ["c[__proto__]", "w"]);
  expect(Object.entries(odd)).toEqual([
    ["__proto__", "x"],
    ["a[b][c]", "y"],
    ["[", "z"],
    ["c", expect.anything()],
  ]);
  expect(Object.keys(odd.c as object)).toEqual(["__proto__"]);
});

test.each([
  [
    [
      ["a", "1"],
      ["a", "2"],
    ],
    "a",
  ],
  [
    [
      ["a", "1"],
      ["a[b]", "2"],
    ],
    "a[b]",
  ],
  [
    [
      ["a[b]", "1"],
      ["a[b]", "2"],
    ],
    "a[b]",
  ],
  [
    [
      ["a[]", "1"],
      ["a", "2"],
    ],
    "a",
  ],
] as const)("%j gives one thing twice", (fields, field) => {
  expect(() => read(...fields)).toThrow(`${field} is given twice.`);
});
