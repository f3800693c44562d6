import { expect, test } from "bun:test";
import { unquoted } from "../../../src/domain/task/unquoted.ts";

const PROMPT = "Our secret plans\nfor the spring catalogue, by the river";
const request = {
  prompt: PROMPT,
  parameters: { negative_prompt: "the logo of the other brand", style: "vivid" },
};
const Q = "[quoted from the request]";

test.each([
  // Whole, with white space as it is shown; in quotes, escaped or cut.
  [
    'Acme answered 400 "cannot draw: Our secret plans for the spring catalogue, by the river"',
    `Acme answered 400 "cannot draw: ${Q}"`,
  ],
  ['Acme answered 400 "Our secret plans for th…"', `Acme answered 400 "${Q}…"`],
  ['Acme answered 400 "Our secret plans\\nfor the spring catalogue"', `Acme answered 400 "${Q}\\n${Q}"`],
  ["Acme: the logo of the other brand is a trademark", `Acme: ${Q} is a trademark`],
  // What has no stretch of it stays, and so do short parameters, which are choices.
  ["Acme answered 503 busy in spring, style vivid", "Acme answered 503 busy in spring, style vivid"],
])("%s", (said, expected) => {
  expect(unquoted(said, request)).toBe(expected);
});

test("a short prompt is taken out as a word, and not out of others", () => {
  const short = { prompt: "A cat", parameters: {} };
  expect(unquoted('400 "A cat" is in A category', short)).toBe(`400 "${Q}" is in A category`);
  expect(unquoted("A ct", { prompt: "A", parameters: {} })).toBe("A ct");
  expect(unquoted("400 bad", { parameters: {} })).toBe("400 bad");
});

test("a long text that quotes nothing stays as long as it is", () => {
  const long = "x".repeat(5_000);
  expect(unquoted(long, request)).toBe(long);
});

test("what is not searched is not shown", () => {
  const far = `${"x".repeat(9_000)} ${PROMPT.replace("\n", " ")} ${"y".repeat(2_000_000)} ${PROMPT}`;
  const shown = unquoted(far, request);
  expect(shown).toStartWith(`${"x".repeat(9_000)} ${Q} y`);
  expect(shown).not.toContain("spring");
});
