import { expect, test } from "bun:test";
import { type Rule, readRules } from "../../../src/moderation/rules/rules.ts";

function rulesOf(given: Readonly<Record<string, string>>): Rule[] {
  return Object.entries(given).map(([name, text]) => ({
    ...{ text, name, where: `svc.yaml: ${name}` },
    kind: name.startsWith("word") ? "word" : "pattern",
  }));
}

async function ready(given: Readonly<Record<string, string>>) {
  const { rules, problems } = await readRules(rulesOf(given));
  expect(problems).toEqual([]);
  if (rules === undefined) throw new Error("There are no rules.");
  return rules;
}

test("a text breaks a word, or a pattern, or nothing", async () => {
  const { broken } = await ready({
    word1: "nude",
    pattern1: String.raw`bomb\s+\d`,
    pattern2: String.raw`\d{16}`,
  });
  expect(broken("a nude")).toBe("word1");
  expect(broken("a BOMB 7")).toBe("pattern1");
  expect(broken("1234 5678")).toBeUndefined();
  expect(broken("1234567812345678")).toBe("pattern2");
  expect(broken("a bomb")).toBeUndefined();
});

test("patterns with the same literal are each run", async () => {
  const { broken } = await ready({ pattern1: "bomb a", pattern2: "bomb b", pattern3: "(?-i)bomb c" });
  expect(["bomb a", "bomb b", "bomb c", "BOMB c"].map(broken)).toEqual([
    "pattern1",
    "pattern2",
    "pattern3",
    undefined,
  ]);
});

test("patterns that are run on every text are named", async () => {
  const { unaided } = await ready({ pattern1: "bomb", pattern2: "[a-z]{9}", pattern3: "x|y" });
  expect(unaided).toEqual(["pattern2", "pattern3"]);
});

test("a pattern of which no literal is seen is run on every text", async () => {
  const { broken, unaided } = await ready({ pattern1: "\u0488\u0489|\u0301\u0302" });
  expect([unaided, broken("x\u0301\u0302")]).toEqual([["pattern1"], "pattern1"]);
});

test("many patterns over a long text are run in several turns, and the last is run too", async () => {
  const patterns = Array.from({ length: 100 }, (_, i) => [`pattern${i}`, `common [0-9]+ ${i}z`]);
  const { broken } = await ready(Object.fromEntries(patterns));
  const text = "common ".repeat(2_000);
  const late = broken(`${text}common 1 99z`);
  expect(late).toBeInstanceOf(Promise);
  expect(await late).toBe("pattern99");
  expect(await broken(text)).toBeUndefined();
});

test("every rule that cannot be used is named with its place", async () => {
  const { problems } = await readRules(
    rulesOf({ word1: "\u200b", word2: "fine", pattern1: "(", pattern2: "a*" }),
  );
  expect(problems.map(({ where, message }) => `${where} ${message}`)).toEqual([
    "svc.yaml: pattern1 is no pattern (RE2 syntax): missing closing )",
    "svc.yaml: pattern2 matches the empty text, and so every text",
    "svc.yaml: word1 has nothing that is seen",
  ]);
});

test("without rules, nothing is broken", async () => {
  const { broken } = await ready({});
  expect(broken("anything")).toBeUndefined();
});
