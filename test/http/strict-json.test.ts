import { expect, test } from "bun:test";
import fc from "fast-check";
import { AppError } from "../../src/domain/errors.ts";
import type { Json } from "../../src/domain/json.ts";
import { parseJsonObject } from "../../src/http/strict-json.ts";

function refusal(text: string): string {
  try {
    parseJsonObject(text);
  } catch (error) {
    if (error instanceof AppError) return `${error.code}: ${error.message}`;
    throw error;
  }
  return "accepted";
}

test("an object is read as JSON.parse reads it", () => {
  const objects = fc.dictionary(
    fc.string({ unit: "grapheme" }).filter((name) => !name.includes("\0")),
    fc.jsonValue(),
  );
  fc.assert(
    fc.property(objects, (value) => {
      const text = JSON.stringify(value);
      fc.pre(!text.includes("\\u"));
      expect(parseJsonObject(text)).toEqual(JSON.parse(text));
    }),
  );
});

test("anything but an object is refused", () => {
  for (const text of ["[]", "1", "null", '"a"', "true"]) {
    expect(refusal(text)).toBe("invalid_request: The body must be a JSON object.");
  }
  for (const text of ["{", '{"a":}', "{'a':1}", '{"a":1,}', "{} {}", '{"a":"\n"}', "\ufeff{}"]) {
    expect(refusal(text)).toStartWith("invalid_request: The body is not valid JSON");
  }
});

test("what is often wrong with JSON that was written by hand is told", () => {
  for (const text of ["", " \n"])
    expect(refusal(text)).toBe("invalid_request: The body is empty, where JSON is expected.");
  for (const text of ["{'a':1}", "{a:1}", '{\\"a\\":1}'])
    expect(refusal(text)).toBe(
      "invalid_request: The body is not valid JSON: names and texts in it need double quotes, which a shell may have taken away.",
    );
  expect(refusal('{"a":it}')).toBe("invalid_request: The body is not valid JSON.");
});

test.each([
  ['{"a":1,}', "nothing follows a comma in it but a closing bracket."],
  ['{"a":[1,2 ,\n ],"b":2}', "nothing follows a comma in it but a closing bracket."],
  ['{"a":"one\ntwo"}', "a line break within a text is written \\n."],
  ['{"a":[1,2]', "it ends before its last closing bracket."],
  ['{"a":"one', 'a double quote is missing, or one too many; within a text it is written \\".'],
  ['{"a":"it"s"}', 'a double quote is missing, or one too many; within a text it is written \\".'],
  ['{"a":"one,\n"b":2}', 'a double quote is missing, or one too many; within a text it is written \\".'],
  ['{"a":"b,]"', "it ends before its last closing bracket."],
])("what is wrong with %j is told", (text, fault) => {
  expect(refusal(text)).toBe(`invalid_request: The body is not valid JSON: ${fault}`);
});

test("a field given twice is refused and named, at any depth and however it is spelt", () => {
  expect(refusal('{"a":1,"a":2}')).toBe('invalid_request: The field "a" is given twice.');
  expect(refusal('{"x":[{"b":1,"c":{},"b":2}]}')).toBe('invalid_request: The field "b" is given twice.');
  expect(refusal('{"a":1,"\\u0061":2}')).toBe('invalid_request: The field "a" is given twice.');
  expect(refusal('{"__proto__":1,"__proto__":2}')).toBe(
    'invalid_request: The field "__proto__" is given twice.',
  );
});

test("the same name in different objects, and colons in strings, are no duplicates", () => {
  expect(refusal('{"a":{"a":{"a":"a:a:\\":"}},"b":[{"a":1},{"a":1}]}')).toBe("accepted");
});

test("every object with a repeated member is refused", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 }), fc.nat(), (value, pick) => {
      const members = Object.entries(value).map(
        ([name, member]) => `${JSON.stringify(name)}:${JSON.stringify(member)}`,
      );
      const twice = [...members, members[pick % members.length]];
      expect(refusal(`{${twice.join(",")}}`)).toStartWith("invalid_request");
    }),
  );
});

test("nesting is taken to 32 levels and no further", () => {
  const nested = (levels: number) => `{"a":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`;
  expect(refusal(nested(32))).toBe("accepted");
  expect(refusal(nested(33))).toBe("invalid_request: The body is nested deeper than 32 levels.");
  expect(refusal("[".repeat(1_000_000))).toBe("invalid_request: The body is nested deeper than 32 levels.");
});

test("NUL and half a surrogate pair are refused, with the field's path", () => {
  expect(refusal('{"a":["x","\\u0000"]}')).toBe("invalid_request: a[1] contains a NUL character.");
  expect(refusal('{"a":{"b":"\\ud800"}}')).toBe("invalid_request: a.b contains half of a surrogate pair.");
  expect(refusal('{"\\udc00":1}')).toBe("invalid_request: A field name contains half of a surrogate pair.");
  expect(refusal('{"a":"\\ud83d\\ude00"}')).toBe("accepted");
});

test("20,000 fields and values are taken and no more, however they are arranged", () => {
  const told = "invalid_request: The body has more than 20000 fields and values.";
  const list = (values: number) => `{"a":[${Array.from({ length: values }, () => 0).join(",")}]}`;
  expect(refusal(list(19_998))).toBe("accepted");
  expect(refusal(list(19_999))).toBe(told);
  expect(refusal(`{"a":[${"{},".repeat(20_000)}0]}`)).toBe(told);
  expect(refusal(`{${Array.from({ length: 10_001 }, (_, i) => `"${i}":0`).join(",")}}`)).toBe(told);
});

test("names of the object's prototype are ordinary fields", () => {
  const parsed: { [name: string]: Json | undefined } = parseJsonObject(
    '{"constructor":1,"__proto__":{"x":1}}',
  );
  expect(Object.keys(parsed)).toEqual(["constructor", "__proto__"]);
  expect(({} as { x?: number }).x).toBeUndefined();
});
