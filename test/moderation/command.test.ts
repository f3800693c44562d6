import { afterAll, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type CommandOptions, commandCheck, findProgram } from "../../src/moderation/command.ts";
import { after, ask, handTimers, requestOf } from "./requests.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-command-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const PATH = "/usr/local/bin:/usr/bin:/bin";

function optionsOf(script: string, given: Partial<CommandOptions> = {}): CommandOptions {
  return {
    ...{ name: "house", onOutage: "refuse", timeoutMs: 30_000, concurrency: 2 },
    ...{ run: ["sh", "-c", script], folder, env: { PATH } },
    ...given,
  };
}

const says = (script: string, given?: Partial<CommandOptions>, text = "a fox") =>
  ask(commandCheck(optionsOf(script, given), { after }), text);

test("a command reads the request and writes its verdict", async () => {
  expect(await says(`cat >${folder}/input; echo '{"allowed":true}'`, {}, 'a "fox"\n')).toEqual({
    kind: "allowed",
  });
  expect(JSON.parse(readFileSync(join(folder, "input"), "utf8"))).toEqual({
    ...{ kind: "image", model: "fox", account: "acc_1", key: "key_1" },
    texts: [{ field: "prompt", text: 'a "fox"\n' }],
  });
});

test("a command refuses, with or without a reason", async () => {
  expect(await says(`echo '{"allowed":false,"reason":"house/7"}'`)).toEqual({
    kind: "refused",
    rule: "house/7",
  });
  expect(await says(`echo '{"allowed":false}'`)).toEqual({ kind: "refused", rule: undefined });
});

test("a reason that could be a text stays out of the log", async () => {
  const refused = { kind: "refused", rule: undefined } as const;
  expect(await says(`echo '{"allowed":false,"reason":"it says: a fox"}'`)).toEqual(refused);
  expect(await says(`echo '{"allowed":false,"reason":{"text":"a fox"}}'`)).toEqual(refused);
});

test.each([
  ["exit 3", "ended with exit code 3"],
  [`echo '{"allowed":true}'; exit 1`, "ended with exit code 1"],
  ["kill -9 $$", "ended with SIGKILL"],
  ["true", "wrote what is no JSON"],
  [`echo '{"allowed":tr'`, "wrote what is no JSON"],
  [`echo '{"allowed":"yes"}'`, 'wrote no {"allowed": true} or {"allowed": false}'],
  ["echo '[]'", 'wrote no {"allowed": true} or {"allowed": false}'],
  ["yes '{\"allowed\":true}'", "wrote more than 64 KB"],
])("%p is no verdict", async (script, reason) => {
  expect(await says(script)).toEqual({ kind: "outage", reason });
});

test("a program that is not there is none", async () => {
  const missing = { run: ["./no-such-program"] };
  expect(findProgram(optionsOf("", missing))).toBeUndefined();
  expect(await says("", missing)).toEqual({
    kind: "outage",
    reason: "cannot be started: there is no such file or folder",
  });
});

test("a program with a path is found from the folder, one without in PATH alone", async () => {
  writeFileSync(join(folder, "check.sh"), `#!/bin/sh\necho '{"allowed":true}'\n`, { mode: 0o700 });
  expect(findProgram(optionsOf("", { run: ["./check.sh"] }))).toBe(join(folder, "check.sh"));
  expect(findProgram(optionsOf("", { run: ["check.sh"] }))).toBeUndefined();
  expect(await says("", { run: ["./check.sh"] })).toEqual({ kind: "allowed" });
});

test("what a program wrote to standard error, and a text it does not read, change nothing", async () => {
  const large = "x".repeat(900_000);
  expect(await says(`yes | head -c 900000 >&2; echo '{"allowed":true}'`, {}, large)).toEqual({
    kind: "allowed",
  });
  expect(await says(`exec 0<&-; echo '{"allowed":true}'`, {}, large)).toEqual({ kind: "allowed" });
});

test("a program has no environment but what it is given", async () => {
  await says(`env >${folder}/environment; echo '{"allowed":true}'`, { env: { PATH, LANG: "C" } });
  const names = readFileSync(join(folder, "environment"), "utf8").match(/^\w+(?==)/gm) ?? [];
  // A shell sets some of its own.
  expect(names.filter((name) => !["PWD", "SHLVL", "_", "OLDPWD"].includes(name)).sort()).toEqual([
    "LANG",
    "PATH",
  ]);
});

/** A script that writes its own process id and that of a child that outlives it, then goes on. */
const LINGERING = (file: string, then: string) =>
  `sleep 1000 & echo "$! $$" >${file}.part; mv ${file}.part ${file}; ${then}`;

async function processesIn(file: string): Promise<number[]> {
  while (!existsSync(file)) await Bun.sleep(2);
  return readFileSync(file, "utf8").trim().split(" ").map(Number);
}

async function haveEnded(processes: readonly number[]): Promise<boolean> {
  const isAlive = (pid: number) => {
    const stat = existsSync(`/proc/${pid}/stat`) ? readFileSync(`/proc/${pid}/stat`, "utf8") : ") Z";
    return !/\) Z/.test(stat);
  };
  while (processes.some(isAlive)) await Bun.sleep(2);
  return true;
}

test("a command that hangs is killed when its time is up, with all that it started", async () => {
  const timers = handTimers();
  const file = join(folder, "hung");
  const asked = ask(commandCheck(optionsOf(LINGERING(file, "wait")), { after: timers.after }), "a");
  const processes = await processesIn(file);
  timers.pass();
  expect(await asked).toEqual({ kind: "outage", reason: "gave no verdict within 30 s" });
  expect(await haveEnded(processes)).toBe(true);
});

test("what a command leaves behind ends with it", async () => {
  const file = join(folder, "left");
  const script = LINGERING(file, `exec >&-; exit 0`);
  const loose = script.replace("sleep 1000 &", "sleep 1000 >/dev/null &");
  expect(await says(`echo '{"allowed":true}'; ${loose}`)).toEqual({ kind: "allowed" });
  expect(await haveEnded(await processesIn(file))).toBe(true);
});

test("what a command leaves behind holds no verdict up, although it holds the output open", async () => {
  const file = join(folder, "open");
  expect(await says(`echo '{"allowed":true}'; ${LINGERING(file, "exit 0")}`)).toEqual({ kind: "allowed" });
  expect(await haveEnded(await processesIn(file))).toBe(true);
});

test("what leaves the group of a command holds no verdict up beyond its time", async () => {
  const timers = handTimers();
  const file = join(folder, "escaped");
  const script = `setsid sh -c 'echo $$ >${file}.part; mv ${file}.part ${file}; exec sleep 1000' & until [ -e ${file} ]; do sleep 0.01; done; echo '{"allowed":true}'`;
  const asked = ask(commandCheck(optionsOf(script), { after: timers.after }), "a");
  const [escaped = 0] = await processesIn(file);
  timers.pass();
  expect(await asked).toEqual({ kind: "outage", reason: "gave no verdict within 30 s" });
  process.kill(escaped, "SIGKILL");
});

test("a caller that leaves ends the command", async () => {
  const file = join(folder, "gone");
  const check = commandCheck(optionsOf(LINGERING(file, "wait")), { after });
  const gone = new AbortController();
  const asked = check.run(requestOf("a"), () => gone.signal);
  const processes = await processesIn(file);
  gone.abort();
  expect(await asked).toEqual({ kind: "outage", reason: "was called off" });
  expect(await haveEnded(processes)).toBe(true);
});

test("no more commands run at once than may", async () => {
  const script = `mkdir ${folder}/alone || exit 9; sleep 0.05; rmdir ${folder}/alone; echo '{"allowed":true}'`;
  const check = commandCheck(optionsOf(script, { concurrency: 1 }), { after });
  const verdicts = await Promise.all(Array.from({ length: 4 }, () => ask(check, "a")));
  expect(verdicts).toEqual(verdicts.map(() => ({ kind: "allowed" as const })));
});
