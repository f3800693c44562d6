import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { runProgram } from "../../cli/program.ts";
import { fakeContext, svc as svcHere } from "../cli/support.ts";
import { cleanEnvironment, emptyFolder, SVC, startServer, stopServers } from "../helpers/server.ts";
import type { Ended } from "./support/command.ts";
import { ROWS, type Row, type Setup } from "./support/every-command.ts";
import { openReceiver } from "./support/receivers.ts";

setDefaultTimeout(120_000);

/** Ends what waits for an answer that nobody gives. */
const NEVER_LONGER_MS = 30_000;
const NARROW = 40;
const ON_TERMINAL = { TERM: "xterm-256color", NO_COLOR: "1" };
const USAGE_ERROR = 2;
/** A character that is not printed, and what follows it in a command for colours. */
const COLOURS = /[^ -~]\[[\d;]*m/;

interface Node {
  readonly path: string;
  /** Of a command that does something by itself. */
  readonly exit_codes: readonly number[];
  readonly commands: readonly Node[];
}

let setup: Setup;
let receiver: ReturnType<typeof openReceiver>;

beforeAll(async () => {
  const server = await startServer({ args: ["--egress-allow", "127.0.0.0/8"] });
  const dataDir = ["--data-dir", server.dataDir];
  const key = server.firstKey();
  const env = { SVC_SERVER: server.url, SVC_API_KEY: key };
  let names = 0;
  const name = () => `name-${++names}`;
  const first: Setup["first"] = async (...args) => {
    const { exitCode, stdout, stderr } = await svcHere([...args, "--json"], { env: cleanEnvironment(env) });
    if (exitCode !== 0) throw new Error(`svc ${args.join(" ")} ended with ${exitCode}.\n${stderr}`);
    return JSON.parse(stdout);
  };
  receiver = openReceiver();
  // Small: rows make it again, vary it and enlarge it.
  const picture = ["-m", "sandbox-image", "-p", "x", "-i", "size=16x16", "--callback-url", receiver.url];
  const task = String((await first("task", "submit", ...picture, "--wait")).task_id);
  await receiver.received(1);
  const [callback] = (await first("callbacks", "list", "--task", task)).callbacks as { id: string }[];
  const { token } = await first("tokens", "create", "--name", "table", ...dataDir);
  setup = { server, key, token: String(token), task, callback: callback?.id ?? "", name, first };
});

afterAll(async () => {
  await stopServers();
  await receiver.stop();
});

/** Runs the executable with an open standard input on which nothing comes, and --no-input. */
async function run(
  words: readonly string[],
  row: Row = {},
  extra: Record<string, string> = {},
): Promise<Ended> {
  const child = Bun.spawn([SVC, ...words], {
    cwd: emptyFolder("every"),
    env: environment(extra),
    stdin: row.stdin === undefined ? "pipe" : new Blob([row.stdin(setup)]),
    stdout: "pipe",
    stderr: "pipe",
    timeout: NEVER_LONGER_MS,
  });
  const [stdout, stderr, exitCode] = await Promise.all([
    child.stdout.text(),
    child.stderr.text(),
    child.exited,
  ]);
  return { exitCode, stdout, stderr };
}

/** The same in this process, which takes a fraction of the time, where nothing is read from standard input. */
function runHere(words: readonly string[], row: Row): Promise<Ended> {
  if (row.stdin !== undefined) return run(words, row);
  return svcHere(words, { cwd: emptyFolder("every"), env: environment() });
}

const environment = (extra: Record<string, string> = {}) =>
  cleanEnvironment({
    SVC_SERVER: setup.server.url,
    SVC_API_KEY: setup.key,
    XDG_CONFIG_HOME: emptyFolder("config"),
    ...extra,
  });

/** What a terminal was told, and how the command ended. */
interface Narrow {
  readonly exitCode: number;
  readonly told: string;
}

/** The same on a narrow terminal without colours. */
async function runNarrow(words: readonly string[], folder: string): Promise<Narrow> {
  let told = "";
  const decoder = new TextDecoder();
  const child = Bun.spawn([SVC, ...words], {
    cwd: folder,
    env: environment(ON_TERMINAL),
    terminal: {
      cols: NARROW,
      rows: 24,
      data(_, data) {
        told += decoder.decode(data, { stream: true });
      },
    },
    timeout: NEVER_LONGER_MS,
  });
  return { exitCode: await child.exited, told };
}

/** The same in this process. */
async function runNarrowHere(words: readonly string[], cwd: string): Promise<Narrow> {
  const context = fakeContext({ isTerminal: true, columns: NARROW, cwd, env: environment(ON_TERMINAL) });
  const exitCode = await runProgram(words, context);
  return { exitCode, told: context.stdout.text() + context.stderr.text() };
}

test("the table has every command, and no other", async () => {
  const { stdout } = await run(["help", "--json"]);
  const runnable = (node: Node): string[] => [
    ...(node.path !== "svc" && node.exit_codes.length > 0 ? [node.path] : []),
    ...node.commands.flatMap(runnable),
  ];
  expect(runnable(JSON.parse(stdout)).sort()).toEqual(Object.keys(ROWS).sort());
});

const rows = Object.entries(ROWS).map(([path, row]) => [path, path.split(" ").slice(1), row] as const);
const endless = rows.filter(([, , row]) => row.endless === true);
const ending = rows.filter(([, , row]) => row.endless !== true);

// What the others print of themselves is looked at in one process, in test/cli/help.test.ts.
test.concurrent.each(endless)(
  "%s explains itself, and ends with 2 at a flag it does not have",
  async (_, words) => {
    const [help, mistaken] = await Promise.all([
      run([...words, "--help"]),
      run([...words, "--no-such-flag"]),
    ]);
    expect([help.exitCode, help.stderr]).toEqual([0, ""]);
    expect(help.stdout).toContain("\n\nExamples:\n");
    expect([mistaken.exitCode, mistaken.stdout]).toEqual([USAGE_ERROR, ""]);
    expect(mistaken.stderr).toStartWith("error: Unknown option '--no-such-flag'.");
  },
);

describe.each(ending)("%s", (_, words, row) => {
  const line = async (...flags: string[]) => [...words, ...((await row.args?.(setup)) ?? []), ...flags];
  const expected = row.exitCode ?? 0;

  test("prints JSON of a known shape, and nothing else", async () => {
    const { exitCode, stdout, stderr } = await runHere(await line("--json", "--no-input"), row);
    expect(exitCode).toBe(expected);
    if (expected !== 0) {
      expect(stdout).toBe("");
      expect(Object.keys(JSON.parse(stderr))).toEqual(["error"]);
      return;
    }
    expect(stderr).toBe("");
    expect(stdout.trimEnd().split("\n")).toHaveLength(1);
    const keys = row.keys ?? [];
    expect(keys.length).toBeGreaterThan(0);
    expect(Object.keys(JSON.parse(stdout))).toEqual(expect.arrayContaining([...keys]));
  });

  test("prints data without colour or talk into a pipe, and never waits for an answer", async () => {
    const runBoth = async () =>
      Promise.all([run(await line("--no-input"), row), runHere(await line("--no-input", "--quiet"), row)]);
    let [talkative, quiet] = await runBoth();
    // Tasks of other rows end meanwhile, so that a list may have grown between the two.
    if (linesOf(talkative.stdout) !== linesOf(quiet.stdout)) [talkative, quiet] = await runBoth();
    expect([talkative.exitCode, quiet.exitCode]).toEqual([expected, expected]);
    expect(talkative.stdout + talkative.stderr).not.toContain("\u001b");
    expect(expected === 0 ? quiet.stderr : "").toBe("");
    expect(linesOf(talkative.stdout)).toBe(linesOf(quiet.stdout));
  });

  const onTerminal = row.stdin === undefined ? test : test.skip;
  onTerminal("keeps to a narrow terminal, without colours where they are not wanted", async () => {
    const runOn = row.hasTerminal === true ? runNarrow : runNarrowHere;
    const { exitCode, told } = await runOn(await line("--no-input"), emptyFolder("narrow"));
    expect(exitCode).toBe(expected);
    expect(told).not.toMatch(COLOURS);
    if (row.isTable !== true) return;
    // What is said about a table may be longer: a terminal breaks it.
    const table = Bun.stripANSI(told)
      .split(/\r?\n/)
      .filter(
        (each) =>
          each !== "" && !/^(?:No room for|More:|There are|\d+ more are|\d+ would come into) /.test(each),
      );
    expect(table.length).toBeGreaterThan(0);
    expect(table.filter((each) => Bun.stringWidth(each) > NARROW)).toEqual([]);
  });
});

const linesOf = (text: string): number => text.split("\n").length;
