import { describe, expect, test } from "bun:test";
import { readYaml, YamlError } from "../../src/toolkit/yaml.ts";

const MANIFEST = `# A model.
id: tiny
price:
  lines:
    - sku: output
      amount: "0.01"
    - {sku: second, amount: 2}
empty:
`;

test("a document becomes plain values", () => {
  expect(readYaml(MANIFEST).value).toEqual({
    id: "tiny",
    price: {
      lines: [
        { sku: "output", amount: "0.01" },
        { sku: "second", amount: 2 },
      ],
    },
    empty: null,
  });
});

test("text alone is typed as YAML 1.2 has it, and keys are text", () => {
  expect(readYaml("a: yes\nb: 0o17\nc: 2026-01-01\nd: true\n1: ~\n").value).toEqual({
    a: "yes",
    b: 15,
    c: "2026-01-01",
    d: true,
    "1": null,
  });
  expect(readYaml("").value).toBeNull();
});

describe("a position is", () => {
  const places: readonly (readonly [path: (string | number)[], key: string, value: string])[] = [
    [[], "2:1", "2:1"],
    [["id"], "2:1", "2:5"],
    [["price"], "3:1", "4:3"],
    [["price", "lines", 0], "5:7", "5:7"],
    [["price", "lines", 0, "amount"], "6:7", "6:15"],
    [["price", "lines", 1, "amount"], "7:21", "7:29"],
    [["empty"], "8:1", "8:7"],
  ];
  for (const [path, key, value] of places) {
    test(`that of the key or of the value at /${path.join("/")}`, () => {
      const { positionOf } = readYaml(MANIFEST);
      expect(shown(positionOf(path, "key"))).toBe(key);
      expect(shown(positionOf(path))).toBe(value);
    });
  }

  test("that of the nearest ancestor for what is not there", () => {
    const { positionOf } = readYaml(MANIFEST);
    expect(shown(positionOf(["price", "lines", 7]))).toBe("5:5");
    expect(shown(positionOf(["price", "minimum", "amount"]))).toBe("4:3");
    expect(shown(positionOf(["id", "deeper"]))).toBe("2:5");
    expect(shown(readYaml("").positionOf(["id"]))).toBe("1:1");
  });

  test("that of the anchor's members below an alias", () => {
    const { positionOf, value } = readYaml("one: &one\n  a: 1\ntwo: *one\n");
    expect(value).toEqual({ one: { a: 1 }, two: { a: 1 } });
    expect(shown(positionOf(["two"]))).toBe("3:6");
    expect(shown(positionOf(["two", "a"]))).toBe("2:6");
  });
});

describe("refused with its position:", () => {
  const bomb = Array.from({ length: 9 }, (_, i) =>
    i === 0 ? "a0: &a0 [x]" : `a${i}: &a${i} [${Array(9).fill(`*a${i - 1}`)}]`,
  ).join("\n");
  const refusals: Record<string, [text: string, place: string, message: string]> = {
    "a duplicate key": ["a: 1\nb: 2\na: 3\n", "3:1", "this key is already in the same mapping"],
    "a second document": ["a: 1\n---\nb: 2\n", "2:1", "a second document begins here; only one is read"],
    "a key that is a mapping": ["x: 1\n{a: b}: c\n", "2:1", "a key must be text"],
    "an unclosed list": [
      "a: 1\nb: [1,\n",
      "3:1",
      "Flow sequence in block collection must be sufficiently indented and end with a ]",
    ],
    "an unknown tag": ["a: !secret x\n", "1:4", "Unresolved tag: !secret"],
    "an unknown directive": ["%FOO\n---\na: 1\n", "1:1", "Unknown directive %FOO"],
    "an unknown alias": ["a: 1\nb: *gone\n", "2:4", 'no anchor "gone" before this alias'],
    "an alias inside its own anchor": ["a: &a\n  b: *a\n", "2:6", '"a" contains itself'],
    "a bomb of aliases": [bomb, "2:10", "an alias is repeated too often"],
    "more aliases than a person writes": [
      `a: &a x\nb: [${Array(201).fill("*a")}]`,
      "2:605",
      "more than 200 aliases",
    ],
    "a text that is too large": [`a: ${"é".repeat(500)}`, "1:1", "larger than 1000 bytes"],
  };
  for (const [name, [text, place, message]] of Object.entries(refusals)) {
    test(name, () => {
      const error = refusal(text);
      expect(error.message).toBe(message);
      expect(shown(error.position)).toBe(place);
    });
  }

  test("a bomb of merged mappings, of other programs, too", () => {
    const lines = Array.from(
      { length: 9 },
      (_, i) => `a${i + 1}: &a${i + 1} { <<: [${Array(9).fill(`*a${i}`)}] }`,
    );
    expect(() => readYaml(`a0: &a0 { x: 1 }\n${lines.join("\n")}\n`, { isOfOthers: true })).toThrow(
      "an alias is repeated too often",
    );
  });

  test("a nest deeper than the stack", () => {
    expect(refusal("[".repeat(20_000)).message).toBe("nested too deeply");
  });

  test("collections in more than two hundred others, at the first of them", () => {
    const nest = (depth: number) => `a:\n  ${"{ b: [".repeat(depth)}1${"] }".repeat(depth)}\n`;
    expect(JSON.stringify(readYaml(nest(99)).value)).toHaveLength(799);
    const { message, position } = refusal(nest(1_600));
    expect([message, shown(position)]).toEqual(["nested too deeply", "2:602"]);
  });

  test("a text of as many bytes as allowed is read", () => {
    expect(readYaml("a: 1\n", { maxBytes: 5 }).value).toEqual({ a: 1 });
    expect(() => readYaml("a: 1\n", { maxBytes: 4 })).toThrow(YamlError);
  });
});

function refusal(text: string): YamlError {
  try {
    readYaml(text, { maxBytes: text.includes("é") ? 1000 : undefined });
  } catch (error) {
    if (error instanceof YamlError) return error;
    throw error;
  }
  throw new Error("was read");
}

function shown({ line, column }: { line: number; column: number }): string {
  return `${line}:${column}`;
}

describe("what the quick parser takes and this one does not, or reads in another way, is", () => {
  test.each([
    ["a key twice", "a: 1\nb: 2\na: 3\n", "already in the same mapping"],
    ["a key twice in a flow", "a: {b: 1, b: 2}\n", "already in the same mapping"],
    ["a quoted key twice", "\"a\": 1\n'a': 2\n", "already in the same mapping"],
    [
      "a key twice behind texts that look like keys",
      "a: 'x: y'\nb: \"a: 1\"\na: 2\n",
      "already in the same mapping",
    ],
    ["a key that is no text", "? [a]\n: 1\n", "must be text"],
    ["a tag", "a: !foo 1\n", "tag"],
    ["a second document", "a: 1\n---\nb: 2\n", "second document"],
    ["a text that begins with a comma", "a: ,b\n", "cannot start with flow indicator"],
    ["a tab as indentation", "\tx\n", "Tabs are not allowed"],
    ["a tab below a block of text", "a: |\n  x\n\t\n", "must not be less indented"],
    ["an anchor that contains itself", "a: &x [*x]\n", "contains itself"],
  ])("refused: %s", (_, text, message) => {
    expect(() => readYaml(text)).toThrow(message);
  });

  test.each([
    ["keys that look like numbers", "1.0: a\n0x1F: b\n010: c\n", { "1.0": "a", "0x1F": "b", "010": "c" }],
    ["merges, which are no part of YAML 1.2", "<<: {a: 1}\nb: 2\n", { "<<": { a: 1 }, b: 2 }],
    ["colons and exclamation marks in texts", "a: 'b: !c'\nd: \"!e: f\"\n", { a: "b: !c", d: "!e: f" }],
    ["texts over several lines", "a: >-\n  x\n  : y\nb: |\n  c: d\n", { a: "x : y", b: "c: d\n" }],
    ["anchors", "a: &x {b: 1}\nc: *x\n", { a: { b: 1 }, c: { b: 1 } }],
  ])("read all the same: %s", (_, text, value) => {
    expect(readYaml(text).value).toEqual(value);
  });
});
