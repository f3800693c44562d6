import { expect, test } from "bun:test";
import fc from "fast-check";
import { createLongStringReader } from "../../src/toolkit/long-strings.ts";

const LONG_FROM = 16;

/** Reads a text in pieces. Takes strings out that begin with `:`, as `<0>`, `<1>` and so on. */
async function read(text: string, cuts: readonly number[] = [], maxTextBytes = 1_000_000) {
  const taken: (string | undefined)[] = [];
  const reader = createLongStringReader({
    longFrom: LONG_FROM,
    maxTextBytes,
    tooLong: () => new Error("too long"),
    open(beginning) {
      if (!beginning.startsWith(":")) return undefined;
      const index = taken.push("") - 1;
      return {
        append(piece) {
          taken[index] = piece === undefined ? undefined : `${taken[index]}${piece}`;
        },
        end: () => `<${index}>`,
      };
    },
  });
  const bytes = Buffer.from(text);
  const ends = [...cuts].filter((cut) => cut < bytes.length).sort((a, b) => a - b);
  let from = 0;
  for (const to of [...ends, bytes.length]) {
    await reader.feed(bytes.subarray(from, to));
    from = to;
  }
  return { text: reader.text().toString(), taken };
}

test("a long string is taken out, unescaped, and everything else stays", async () => {
  const long = ':\\/\\u002b\\"\\\\0123456789012345678901234567890';
  expect(await read(`{"a":"${long}","b":":short","c":"${"x".repeat(40)}"}`)).toEqual({
    text: `{"a":"<0>","b":":short","c":"${"x".repeat(40)}"}`,
    taken: [JSON.parse(`"${long}"`)],
  });
});

test("wherever the pieces are cut, the same is read", async () => {
  const letters = fc.constantFrom(":", "a", "b", "/", "+", '"', "\\", "\n", "{", "=");
  const strings = fc.string({ unit: letters, maxLength: 60 });
  const spelt = fc.tuple(strings, fc.boolean()).map(([string, isPlain]) => {
    const text = JSON.stringify(isPlain ? `:${string.replaceAll(/["\\\n]/g, "")}` : string);
    return isPlain ? text : text.replaceAll("/", "\\/").replaceAll("+", "\\u002b");
  });
  await fc.assert(
    fc.asyncProperty(fc.array(spelt), fc.array(fc.nat(300), { maxLength: 20 }), async (entries, cuts) => {
      const { text, taken } = await read(`[${entries.join(", ")}]`, cuts);
      const filled = (JSON.parse(text) as string[]).map((entry) => {
        const index = /^<(\d+)>$/.exec(entry)?.[1];
        return index === undefined ? entry : taken[Number(index)];
      });
      expect(filled).toEqual(entries.map((entry) => JSON.parse(entry) as string));
    }),
  );
});

test("a string that is no JSON is told", async () => {
  expect((await read(`[":${"x".repeat(40)}\\x","y"]`)).taken).toEqual([undefined]);
});

test("text over the limit is an error as soon as it arrives, however it is made", async () => {
  for (const piece of [" ", "[", '"",', "\\n"]) {
    const text = `{"a":"${piece.repeat(200)}`;
    expect(read(text, [], 100)).rejects.toThrow("too long");
  }
  expect((await read(`[":${"x".repeat(10_000)}"]`, [], 100)).text).toBe('["<0>"]');
});
