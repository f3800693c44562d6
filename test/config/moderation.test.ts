import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ConfigSources, loadConfig } from "../../src/config/config.ts";
import { ConfigError } from "../../src/config/problem.ts";

const SECRET = "sk-live-0123456789abcdef";
const workspace = mkdtempSync(join(tmpdir(), "svc-moderation-"));
afterAll(() => rmSync(workspace, { recursive: true, force: true }));

function load(yaml: string, env: ConfigSources["env"] = {}) {
  const cwd = mkdtempSync(join(workspace, "folder-"));
  mkdirSync(join(cwd, "svc-data"));
  writeFileSync(join(cwd, "svc-data/svc.yaml"), yaml);
  const { moderation } = loadConfig({ cwd, cores: 4, providers: [], env });
  return { moderation, folder: join(cwd, "svc-data") };
}

/** The problems, a line each, from the settings file's name on. */
function problemsOf(checks: string, rest = "", env: ConfigSources["env"] = {}): string[] {
  try {
    load(`moderation:\n  checks:\n    ${checks.replaceAll("\n", "\n    ")}\n${rest}`, env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    expect(error.message).not.toContain(SECRET);
    return error.message.split("\n").map((line) => line.replaceAll(/\S*\/svc-data\//g, ""));
  }
  return [];
}

test("without the section there are no checks", () => {
  expect(load("log: { level: info }").moderation).toBeUndefined();
});

test("checks are read, with what each leaves out", () => {
  const yaml = `
moderation:
  checks:
    slurs: { words: [one, two words], words_file: lists/words.txt, fields: [prompt] }
    shapes: { patterns: ['a+b'] }
    vendor:
      endpoint: https://vendor.example/v1/moderations
      key_env: VENDOR_KEY
      model: omni
      categories: [sexual/minors]
      thresholds: { violence: 0.7 }
      timeout_seconds: 2.5
      concurrency: 3
    house: { command: [./check, --strict], on_outage: allow }
  apply: [slurs, vendor]
  models:
    sandbox-image: [slurs]
    sandbox-*: []
`;
  const { moderation, folder } = load(yaml, { VENDOR_KEY: SECRET, PATH: "/bin", OTHER_SECRET: "x" });
  const at = (place: string) => `${join(folder, "svc.yaml")}:${place}`;
  const [slurs, shapes, vendor, house] = moderation?.checks ?? [];
  expect(slurs).toEqual({
    ...{ kind: "rules", name: "slurs", onOutage: "refuse", fields: ["prompt"] },
    where: at("4:5: moderation.checks.slurs"),
    rules: [
      { kind: "word", text: "one", name: "words[0]", where: at("4:22: moderation.checks.slurs.words[0]") },
      {
        kind: "word",
        text: "two words",
        name: "words[1]",
        where: at("4:27: moderation.checks.slurs.words[1]"),
      },
    ],
    files: [
      {
        ...{ kind: "word", path: join(folder, "lists/words.txt") },
        where: at("4:51: moderation.checks.slurs.words_file"),
      },
    ],
  });
  expect(shapes).toMatchObject({
    kind: "rules",
    rules: [{ kind: "pattern", text: "a+b", name: "patterns[0]" }],
  });
  expect(vendor).toMatchObject({
    ...{ kind: "endpoint", url: "https://vendor.example/v1/moderations", model: "omni" },
    ...{ categories: ["sexual/minors"], thresholds: { violence: 0.7 } },
    ...{ timeoutMs: 2_500, concurrency: 3, onOutage: "refuse" },
  });
  expect(vendor?.kind === "endpoint" && vendor.key?.reveal()).toBe(SECRET);
  expect(house).toMatchObject({
    ...{ kind: "command", run: ["./check", "--strict"], folder, env: { PATH: "/bin" } },
    ...{ timeoutMs: 5_000, concurrency: 4, onOutage: "allow" },
  });
  expect(moderation?.apply).toEqual(["slurs", "vendor"]);
  expect(moderation?.models).toEqual([
    ["sandbox-image", ["slurs"]],
    ["sandbox-*", []],
  ]);
});

test("a key whose variable is not set is told to whoever opens the check", () => {
  const { moderation } = load(
    "moderation: { checks: { a: { endpoint: 'https://v.example', key_env: V_KEY } } }",
  );
  expect(moderation?.checks).toMatchObject([{ lacksKey: "V_KEY" }]);
});

describe("what is wrong is named with line and column", () => {
  test.each<[string, string, readonly string[]]>([
    [
      "a: { wrods: [x] }",
      "",
      [
        "svc.yaml:3:5: moderation.checks.a: must have words, words_file, patterns, patterns_file, endpoint or command.",
      ],
    ],
    [
      "a: { words: [x], wrods: [y] }",
      "",
      ["svc.yaml:3:29: moderation.checks.a.wrods: is not a setting. Did you mean words?"],
    ],
    [
      "a: { words: [x], endpoint: 'https://v.example' }",
      "",
      ["svc.yaml:3:5: moderation.checks.a: must be one check, of rules or of endpoint; make two of it."],
    ],
    [
      "a: { words: [420, ok, ''] }",
      "",
      [
        "svc.yaml:3:18: moderation.checks.a.words[0]: must be a text, got 420; put it in quotes.",
        'svc.yaml:3:27: moderation.checks.a.words[2]: must be a text, got ""; put it in quotes.',
      ],
    ],
    [
      "a: { patterns: nude }",
      "",
      ['svc.yaml:3:20: moderation.checks.a.patterns: must be a list of patterns, got "nude".'],
    ],
    [
      "a: { words: [x], on_outage: refuse }",
      "",
      ["svc.yaml:3:33: moderation.checks.a.on_outage: is not a setting."],
    ],
    [
      "a: { endpoint: ftp://v.example }",
      "",
      [
        'svc.yaml:3:20: moderation.checks.a.endpoint: must be an http or https URL without user, query or fragment, such as https://api.example.com/v1, got "ftp://v.example".',
      ],
    ],
    [
      "a: { endpoint: 'https://v.example', thresholds: { hate: 7 } }",
      "",
      ["svc.yaml:3:61: moderation.checks.a.thresholds.hate: must be a number from 0 to 1, got 7."],
    ],
    [
      "a: { command: ./check }",
      "",
      [
        'svc.yaml:3:19: moderation.checks.a.command: must be a list of a program and its arguments, got "./check".',
      ],
    ],
    ["a: { command: [] }", "", ["svc.yaml:3:19: moderation.checks.a.command: must have a program."]],
    [
      "a: { command: [x], timeout_seconds: 900, on_outage: ignore }",
      "",
      [
        'svc.yaml:3:57: moderation.checks.a.on_outage: must be one of refuse, allow, got "ignore".',
        "svc.yaml:3:41: moderation.checks.a.timeout_seconds: must be seconds, from 0.1 to 60, got 900.",
      ],
    ],
    [
      "none: { words: [x] }",
      "",
      [
        "svc.yaml:3:11: moderation.checks.none: must be named with up to 32 lower-case letters, digits, - and _, and not none or default or any.",
      ],
    ],
    ["a: nude", "", ['svc.yaml:3:5: moderation.checks.a: must hold values by name, got "nude".']],
    [
      "slurs: { words: [x] }",
      "  apply: [slur]",
      [
        'svc.yaml:4:11: moderation.apply[0]: is no check of moderation.checks, got "slur". Did you mean slurs?',
      ],
    ],
    [
      "slurs: { words: [x] }",
      "  models: { fox: [words] }",
      ['svc.yaml:4:19: moderation.models.fox[0]: is no check of moderation.checks, got "words".'],
    ],
    [
      "slurs: { words: [x] }",
      "  aply: [slurs]",
      ["svc.yaml:4:9: moderation.aply: is not a setting. Did you mean apply?"],
    ],
  ])("%s %s", (checks, rest, problems) => {
    expect(problemsOf(checks, rest)).toEqual([...problems]);
  });

  test("and what may be a key is not shown", () => {
    const where = "svc.yaml:3:50: moderation.checks.a.key_env";
    const rule = "must be the name of a variable, such as MODERATION_KEY, that does not begin with SVC_.";
    const endpoint = (key: string) => `a: { endpoint: 'https://v.example', key_env: ${key} }`;
    expect(problemsOf(endpoint(SECRET))).toEqual([`${where}: ${rule}`]);
    expect(problemsOf(endpoint("SVC_KEY"))).toEqual([`${where}: ${rule}`]);
    expect(problemsOf(endpoint("V_KEY"), "", { V_KEY: `${SECRET} and more` })).toHaveLength(1);
  });
});
