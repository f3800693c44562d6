import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { EgressRefusal } from "../../src/domain/ports/egress.ts";
import { type CheckOptions, openCheck } from "../../src/moderation/open.ts";
import { ask } from "./requests.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-open-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const WHERE = "svc.yaml:3:5: moderation.checks.a";
const NAMED = { where: WHERE, name: "a", onOutage: "refuse" } as const;
const ASKED = { ...NAMED, timeoutMs: 1_000, concurrency: 1 };

const open = (options: CheckOptions, refusal?: EgressRefusal) =>
  openCheck(options, {
    after: () => () => {},
    egress: { ask: () => Promise.reject(new Error("nothing is asked")) },
    refusal: () => refusal,
  });

function fileOf(content: string | Uint8Array, name = "words.txt"): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

const rulesIn = (path: string, kind: "word" | "pattern" = "word"): CheckOptions => ({
  ...{ ...NAMED, kind: "rules", rules: [] },
  files: [{ kind, path, where: `${WHERE}.words_file` }],
});

test("rules come from the settings and from files, whose lines name them", async () => {
  const path = fileOf("# a list\r\n\r\nnude\r\n  bad thing  \n");
  const rules = [{ kind: "pattern", text: "bomb", name: "patterns[0]", where: WHERE }] as const;
  const { check, problems } = await open({ ...rulesIn(path), rules } as CheckOptions);
  expect(problems).toEqual([]);
  if (check === undefined) throw new Error("There is no check.");
  expect(await ask(check, "clean")).toEqual({ kind: "allowed" });
  expect(await ask(check, "clean", "a bad  thing")).toEqual({
    ...{ kind: "refused", rule: "words.txt:4", field: "text_1" },
  });
  expect(await ask(check, "bombs")).toEqual({ kind: "refused", rule: "patterns[0]", field: "prompt" });
});

test("texts are judged in their order, also where one takes several turns", async () => {
  const path = fileOf(Array.from({ length: 200 }, (_, i) => `common \\d+ ${i}z`).join("\n"), "patterns.txt");
  const { check } = await open(rulesIn(path, "pattern"));
  if (check === undefined) throw new Error("There is no check.");
  const long = "common ".repeat(2_000);
  expect(await ask(check, long, "common 1 7z", "common 1 8z")).toMatchObject({
    rule: "patterns.txt:8",
    field: "text_1",
  });
  expect(await ask(check, long, long)).toEqual({ kind: "allowed" });
});

test.each<[string, () => string, string]>([
  ["is not there", () => join(folder, "none.txt"), "cannot be read: there is no such file or folder"],
  ["is a folder", () => folder, "cannot be read: it is a folder, and must be a file"],
  ["has no rules", () => fileOf("# nothing\n\n"), "has no rules"],
  ["is no text", () => fileOf(new Uint8Array([0xff, 0xfe, 0x00])), "cannot be read: "],
])("a file that %s is named", async (_, path, problem) => {
  const at = path();
  const { problems } = await open(rulesIn(at));
  expect(problems).toHaveLength(1);
  expect(problems[0]?.where).toBe(`${WHERE}.words_file`);
  expect(problems[0]?.message).toStartWith(`names ${at}, which ${problem}`);
});

test("a line of a file that is no pattern is named with its number", async () => {
  const path = fileOf("fine\n(\n", "patterns.txt");
  const { problems } = await open(rulesIn(path, "pattern"));
  expect(problems).toEqual([
    { where: `${path}:2`, message: "is no pattern (RE2 syntax): missing closing )" },
  ]);
});

test("an endpoint that may not be asked, or whose key is missing, is a problem", async () => {
  const options: CheckOptions = {
    ...{
      ...ASKED,
      kind: "endpoint",
      url: "http://10.0.0.1",
      lacksKey: "V_KEY",
      categories: [],
      thresholds: {},
    },
  };
  const clause = "names the address 10.0.0.1, which is not public";
  const { problems } = await open(options, { clause, isAllowable: true });
  const never = await open(options, { clause: "is not a valid URL", isAllowable: false });
  expect(never.problems[0]?.message).toBe("has an endpoint that is not a valid URL");
  expect(problems).toEqual([
    {
      where: WHERE,
      message:
        "has an endpoint that names the address 10.0.0.1, which is not public; egress.allow lets addresses through",
    },
    { where: WHERE, message: "names V_KEY, which is not set; set it to the key, or leave key_env out" },
  ]);
});

test("a program that is not there is a warning: it may come later", async () => {
  const { check, problems, warnings } = await open({
    ...ASKED,
    kind: "command",
    run: ["./none"],
    folder,
    env: {},
  });
  expect([problems, check?.name]).toEqual([[], "a"]);
  expect(warnings).toEqual([
    { where: WHERE, message: "names the program ./none, which is not there or cannot be run" },
  ]);
});
