import { describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { emptyFolder, svc } from "./support.ts";

/** A folder with a settings file. */
function folderWith(yaml?: string, files: Readonly<Record<string, string>> = {}): string {
  const cwd = emptyFolder();
  mkdirSync(join(cwd, "svc-data/models"), { recursive: true });
  if (yaml !== undefined) writeFileSync(join(cwd, "svc-data/svc.yaml"), yaml);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, "svc-data", name), text);
  return cwd;
}

async function json(cwd: string, ...args: string[]) {
  const { exitCode, stdout } = await svc([...args, "--json"], { cwd });
  return { exitCode, ...JSON.parse(stdout) };
}

describe("svc config show", () => {
  test("takes the flags of serve, and says where each value is from", async () => {
    const cwd = folderWith("log:\n  level: debug\n");
    const { settings } = await json(cwd, "config", "show", "--port", "9");
    const of = (key: string) => settings.find((each: { key: string }) => each.key === key);
    const restart = "the address is listened on until the server stops";
    expect(of("port")).toEqual({
      ...{ key: "port", value: 9, source: "flag", where: "--port", default: "8787", restart },
      description: "port of the API; 0 for any free one, off for none beside a long port",
    });
    expect(of("log.level")).toMatchObject({ value: "debug", source: "file" });
    expect(of("host")).toMatchObject({ value: "127.0.0.1", source: "default", where: null });
    const { stdout } = await svc(["config", "show"], { cwd });
    expect(stdout).toContain("log.level\tdebug\t./svc-data/svc.yaml:2:3\n");
  });
});

describe("svc config validate", () => {
  test("says file, line, column and the nearest name of each problem, and ends with 1", async () => {
    const cwd = folderWith(
      "log:\n  levle: debug\npricing:\n  sandbox-image: {}\n  sandbox-imag: {}\nport: x\n",
    );
    const first = await json(cwd, "config", "validate");
    const file = join(cwd, "svc-data/svc.yaml");
    expect(first).toMatchObject({ exitCode: 1, ok: false });
    expect(first.problems).toMatchObject([
      { file, line: 2, column: 3, key: "log.levle", suggestion: "log.level" },
      { file, line: 6, column: 1, key: "port", suggestion: null },
    ]);
    writeFileSync(file, "pricing:\n  sandbox-image: {}\n  sandbox-imag: {}\n");
    const { problems } = await json(cwd, "config", "validate");
    expect(problems).toMatchObject([
      { line: 2, column: 3, key: "pricing.sandbox-image" },
      { line: 3, column: 3, key: "pricing.sandbox-imag", suggestion: "sandbox-image" },
    ]);
  });

  test("reads YAML that is broken, checks, and own models", async () => {
    const broken = await json(folderWith("log: {level: info\n"), "config", "validate");
    expect([broken.ok, broken.problems[0].line]).toEqual([false, 2]);
    const check = "moderation:\n  checks:\n    own: { patterns: ['('] }\n";
    expect((await json(folderWith(check), "config", "validate")).problems[0]).toMatchObject({ line: 3 });
  });

  test("takes a key's variable that is missing here for a warning", async () => {
    const yaml = "providers: {fal: {accounts: [{name: a, key_env: NOT_SET}]}}\n";
    const report = await json(folderWith(yaml), "config", "validate");
    expect(report).toMatchObject({ exitCode: 0, ok: true, problems: [] });
    expect(report.warnings[0]).toContain("names NOT_SET, which is not set");
  });

  test("warns of an alias that stands for no model", async () => {
    const report = await json(
      folderWith("aliases: {a: sandbox-imag, b: sandbox-image}\n"),
      "config",
      "validate",
    );
    expect([report.exitCode, report.warnings]).toEqual([
      0,
      ["aliases: a stands for sandbox-imag, which is no model. Did you mean sandbox-image?"],
    ]);
  });

  test("finds nothing wrong where there is nothing", async () => {
    const report = await json(emptyFolder(), "config", "validate");
    expect(report).toEqual({ exitCode: 0, ok: true, file: null, problems: [], warnings: [], notes: [] });
  });

  test("says of variables whose names are nearly right what is read in their place", async () => {
    const note = "openai: OPENAI_KEY is set, but the key of OpenAI is read from OPENAI_API_KEY.";
    const { stdout } = await svc(["config", "validate"], { cwd: emptyFolder(), env: { OPENAI_KEY: "x" } });
    expect(stdout).toBe(`note     ${note}\nok       no settings file; all is as usual\n`);
  });
});

test("svc config diff shows what differs from the defaults, and nothing else", async () => {
  const cwd = folderWith("log:\n  level: debug\nport: 8787\n");
  const { differences } = await json(cwd, "config", "diff", "--host", "::1");
  expect(differences).toEqual([
    { key: "host", here: "::1", there: "127.0.0.1", where: "--host" },
    { key: "log.level", here: "debug", there: "info", where: "./svc-data/svc.yaml:2:3" },
  ]);
  const { stderr } = await svc(["config", "diff"], { cwd: emptyFolder() });
  expect(stderr).toBe("All settings have their defaults.\n");
});
