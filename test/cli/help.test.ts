import { describe, expect, test } from "bun:test";
import type { Command } from "commander";
import { flagsLast } from "../../cli/arguments.ts";
import { COMMANDS } from "../../cli/commands.ts";
import { examplesOf, exitsOf } from "../../cli/help/manual.ts";
import { createProgram, runProgram } from "../../cli/program.ts";
import { fakeContext, fakeSink, svc } from "./support.ts";

const runnable = (command: Command): Command[] => [
  ...(exitsOf(command).size > 0 ? [command] : []),
  ...command.commands.flatMap(runnable),
];
const pathOf = (command: Command): string =>
  command.parent === null ? "svc" : `${pathOf(command.parent)} ${command.name()}`;
const paths = runnable(await createProgram(fakeContext())).map(
  (command) => [pathOf(command), command] as const,
);

describe.each(paths)("%s", (path, command) => {
  test("has examples of itself that its own flags and arguments fit", async () => {
    const examples = examplesOf(command);
    expect(examples.length).toBeGreaterThan(0);
    for (const { command: line } of examples) {
      const [, words = ""] = /(?:^|\()svc ([^|)<>]*)/.exec(line) ?? [];
      expect(await parsed(wordsOf(words))).toBe(path);
    }
  });

  test("tells with which exit codes it ends", () => {
    expect([...exitsOf(command)]).toContain("ok");
  });

  test("begins its help with what it does and examples, on lines of 80 characters", async () => {
    const { stdout, stderr, exitCode } = await svc([...path.split(" ").slice(1), "--help"]);
    expect([exitCode, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^[^\n]+(\n[^\n]+)*\n\nExamples:\n {2}\S/);
    expect(stdout.split("\n").filter((line) => Bun.stringWidth(line) > 80)).toEqual([]);
  });

  test("ends with 2 at a flag it does not have, and tells it in the form that is asked for", async () => {
    const mistaken = [...path.split(" ").slice(1), "--no-such-flag"];
    const plain = await svc(mistaken);
    expect([plain.exitCode, plain.stdout]).toEqual([2, ""]);
    expect(plain.stderr).toStartWith("error: Unknown option '--no-such-flag'.");
    const json = await svc([...mistaken, "--json"]);
    expect([json.exitCode, json.stdout]).toEqual([2, ""]);
    expect(JSON.parse(json.stderr)).toMatchObject({ error: { code: "usage", hint: expect.any(String) } });
  });
});

/** Parses a command line without running it. @returns the command that would run */
async function parsed(words: readonly string[]): Promise<string> {
  const program = await createProgram(fakeContext(), words);
  let ran = "";
  for (const command of runnable(program)) {
    command.action(() => {
      ran = pathOf(command);
    });
  }
  await program.parseAsync([...flagsLast(program, words)], { from: "user" });
  return ran;
}

/** Words as a shell splits them, as far as examples go. */
function wordsOf(line: string): string[] {
  return [...line.matchAll(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g)].map(([word]) => word.replaceAll(/["']/g, ""));
}

test("help that is piped has lines as short as the terminal where messages go, and none above 80", async () => {
  const widest = async (columns: number) => {
    const context = { ...fakeContext(), stderr: fakeSink({ isTerminal: true, columns }) };
    expect(await runProgram(["keys", "--help"], context)).toBe(0);
    return Math.max(
      ...context.stdout
        .text()
        .split("\n")
        .map((line) => Bun.stringWidth(line)),
    );
  };
  expect(await widest(60)).toBeLessThanOrEqual(60);
  expect(await widest(60)).toBeGreaterThan(50);
  expect(await widest(200)).toBeLessThanOrEqual(80);
});

test("commands are found by the names that they have", async () => {
  const complete = new Map((await createProgram(fakeContext())).commands.map((each) => [each.name(), each]));
  for (const { usage, aliases = [] } of COMMANDS) {
    const [name = ""] = usage.split(" ");
    for (const word of [name, ...aliases]) {
      const { commands } = await createProgram(fakeContext(), [word]);
      expect(commands.map((each) => each.name())).toEqual(word === "help" ? [...complete.keys()] : [name]);
      for (const { options, commands: below } of commands) expect(options.length + below.length).not.toBe(0);
    }
  }
  const afterFlag = (await createProgram(fakeContext(), ["--no-color", "version"])).commands;
  expect(afterFlag.map((each) => each.name())).toEqual([...complete.keys()]);
  expect(afterFlag.filter(({ options }) => options.length > 0).map((each) => each.name())).toEqual([
    "version",
  ]);
});

test("a command below another is defined alone when it is named, and with all others for any other word", async () => {
  const named = async (...words: string[]) => {
    const { commands } = await createProgram(fakeContext(), words);
    return commands.find((each) => each.name() === "keys")?.commands.map((each) => each.name());
  };
  expect(await named("keys", "rotate", "web")).toEqual(["rotate"]);
  expect(await named("--no-color", "key", "rotate")).toEqual(["rotate"]);
  const all = ["create", "list", "show", "update", "rotate", "revoke", "snippet"];
  expect(await named("keys", "--json", "rotate")).toEqual(all);
  expect(await named("keys", "crate")).toEqual(all);
  expect(await named("keys", "constructor")).toEqual(all);
  expect(await named("keys")).toEqual(all);
});

test("what every object has is no topic", async () => {
  for (const word of ["constructor", "toString"]) {
    const { exitCode, stderr } = await svc(["help", word]);
    expect([exitCode, stderr.includes(`There is no help on "${word}".`)]).toEqual([2, true]);
  }
});

describe("svc help --json", () => {
  test("describes every command with its arguments, flags, examples and exit codes", async () => {
    const tree = JSON.parse((await svc(["help", "--json"])).stdout);
    const found: string[] = [];
    const visit = (node: { path: string; exit_codes: number[]; commands: (typeof node)[] }): void => {
      if (node.path !== "svc" && node.exit_codes.length > 0) found.push(node.path);
      node.commands.forEach(visit);
    };
    visit(tree);
    expect(found).toEqual(paths.map(([path]) => path));
    expect(tree.exit_codes).toContainEqual({ code: 2, meaning: expect.any(String) });
  });

  test("keeps its shape", async () => {
    const { stdout } = await svc(["help", "task", "submit", "--json"]);
    const node = JSON.parse(stdout);
    expect(Object.keys(node)).toEqual([
      ...["name", "path", "description", "usage", "aliases", "arguments", "flags"],
      ...["examples", "notes", "exit_codes", "commands"],
    ]);
    const flag = (name: string) => node.flags.find((each: { name: string }) => each.name === name);
    expect(flag("--model")).toEqual({
      ...{ name: "--model", short: "-m", description: expect.any(String), type: "text", value: "model" },
      ...{ required: false, repeatable: false, default: null, choices: null, variable: null },
    });
    expect(flag("--input")).toMatchObject({ repeatable: true });
    expect(flag("--server")).toMatchObject({ variable: "SVC_SERVER" });
    expect(flag("--no-input")).toMatchObject({ type: "boolean", value: null });
  });

  test("describes one command, and topics too", async () => {
    const one = JSON.parse((await svc(["help", "keys", "revoke", "--json"])).stdout);
    expect(one).toMatchObject({ path: "svc keys revoke", arguments: [{ name: "key", required: true }] });
    expect(JSON.parse((await svc(["help", "exit-codes", "--json"])).stdout).exit_codes).toHaveLength(17);
    expect((await svc(["help", "settings", "--field", "settings.0.name"])).stdout).toBe("data_dir\n");
    expect((await svc(["help", "formatting"])).stdout).toContain("--no-input");
  });
});

describe("help", () => {
  test.each([[[]], [["help"]]])("of %p fits a screen of 24 lines", async (args) => {
    const { stdout } = await svc(args);
    const lines = stdout.trimEnd().split("\n");
    expect(lines.length).toBeLessThanOrEqual(24);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
  });

  test.each([
    [["help", "tsk"], "Did you mean task?"],
    [["help", "keys", "revok"], "Did you mean keys revoke?"],
    [["help", "setings"], "Did you mean settings?"],
    [["kyes", "list"], "Did you mean keys?"],
    [["keys", "lst"], "Did you mean list?"],
    [["keys", "list", "--jsn"], "Did you mean --json?"],
    [["task", "submit", "--modle", "x", "-p", "y"], "Unknown option '--modle'. Did you mean --model?"],
    [["usage", "--by", "modle"], "Did you mean model?"],
    [["callbacks", "trigger", "complete"], "Did you mean completed?"],
  ])("of %p knows what was meant", async (args, suggestion) => {
    const { exitCode, stderr } = await svc(args);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(suggestion);
  });
});

describe("flags before a command's name", async () => {
  const program = await createProgram(fakeContext());
  test.each([
    ["--json keys list", "keys list --json"],
    ["keys --json list --account a", "keys list --json --account a"],
    ["--field keys.0.id -q keys list", "keys list --field keys.0.id -q"],
    ["--server=http://x task --no-input get task_1", "task get --server=http://x --no-input task_1"],
    ["-s http://x task list", "task list -s http://x"],
    ["--help keys", "keys --help"],
    ["--version", "--version"],
    ["--json kyes list", "--json kyes list"],
    ["keys show -- --json", "keys show -- --json"],
  ])("%p means %p", (given, meant) => {
    expect(flagsLast(program, given.split(" ")).join(" ")).toBe(meant);
  });
});
