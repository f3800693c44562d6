import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import { onRun, withCommonFlags } from "../../cli/command.ts";
import { emptyFolder, fakeContext, svc } from "./support.ts";

/** A folder with things that are not what a command needs. */
function crookedFolder(): string {
  const cwd = emptyFolder();
  writeFileSync(join(cwd, "file"), "");
  writeFileSync(join(cwd, "broken.yaml"), "port: 1\nlog: {level: [}\n");
  writeFileSync(join(cwd, "twice.yaml"), "lines: []\nlines: []\n");
  for (const name of ["folder", "garbage", "database-is-folder/svc.db"])
    mkdirSync(join(cwd, name), { recursive: true });
  writeFileSync(join(cwd, "garbage/svc.db"), "no database at all, but long enough to be looked at");
  return cwd;
}

const RULE = ["pricing", "set", "sandbox-image", "--rule"];

test.each([
  [["migrate", "--data-dir", "file"], 1, "a part of its path is a file, and must be a folder."],
  [
    ["migrate", "--data-dir", "file/x"],
    1,
    "Cannot make CWD/file/x: a part of its path is a file, and must be",
  ],
  [["migrate", "--data-dir", "x".repeat(300)], 1, "its name is too long."],
  [["keys", "list", "--data-dir", "garbage"], 1, "Is svc.db a database of svc?"],
  [["keys", "list", "--data-dir", "database-is-folder"], 1, "See whether this user owns the data folder"],
  [
    ["keys", "list", "--data-dir", "database-is-folder"],
    1,
    "A snapshot that can only be read has to be copied first.",
  ],
  [
    ["keys", "list", "--config", "folder"],
    12,
    "CWD/folder: cannot be read: it is a folder, and must be a file.",
  ],
  [["keys", "list", "--config", "broken.yaml"], 12, "CWD/broken.yaml:2:"],
  [[...RULE, "missing.yaml"], 2, "--rule missing.yaml cannot be read: there is no such file or folder."],
  [[...RULE, "folder"], 2, "--rule folder cannot be read: it is a folder, and must be a file."],
  [[...RULE, "broken.yaml"], 2, "--rule broken.yaml:2:"],
  [[...RULE, "twice.yaml"], 2, "--rule twice.yaml:2:1: this key is already in the same mapping."],
])("svc %p says in words what is wrong and where", async (args: string[], exitCode: number, says: string) => {
  const cwd = crookedFolder();
  const ended = await svc(args, { cwd });
  expect([ended.exitCode, ended.stdout]).toEqual([exitCode, ""]);
  expect(ended.stderr.replaceAll(cwd, "CWD")).toContain(says);
  expect(ended.stderr).not.toMatch(/\bE[A-Z]{4,}\b|\bSQLITE_/);
});

test.each(["192.0.2.1", "nowhere.invalid"])(
  "an address that this machine does not have is told with the flag: %s",
  async (host) => {
    const { exitCode, stderr } = await svc(["serve", "--host", host, "--port", "0"], { stdin: "" });
    expect(exitCode).toBe(1);
    expect(stderr).toContain(`Cannot listen on ${host}: this machine has no such address.`);
    expect(stderr).toContain("--host 127.0.0.1");
  },
);

test.each([
  [
    ["accounts", "credit", "bob", "--", "-1.00", "--token", "mt-svc-secret"],
    "Too many arguments for 'credit'. Expected 2 arguments but got 4.",
  ],
  [["whoami", "--server", "http://me:secret@host"], "The address of a server has no user name or password;"],
])("the mistake in %j is told without the secret", async (args, said) => {
  const { exitCode, stderr } = await svc(args);
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining(said)]);
  expect(stderr).not.toContain("secret");
});

test.if(process.platform === "linux")("output that cannot be written is told in words", async () => {
  const main = join(import.meta.dir, "../../cli/main.ts");
  const child = Bun.spawn([process.execPath, main, "help"], {
    stdout: Bun.file("/dev/full"),
    stderr: "pipe",
  });
  expect(await child.stderr.text()).toBe("error: Cannot write the output: the disk is full.\n");
  expect(await child.exited).toBe(1);
});

test("what was said of progress is gone before an error is told", async () => {
  const context = fakeContext({ isTerminal: true });
  const command = onRun(new Command("x").exitOverride(), context, async ({ output }) => {
    output.progress("No answer. Trying again in 1 s.");
    throw new Error("No answer.");
  });
  await expect(withCommonFlags(command).parseAsync([], { from: "user" })).rejects.toThrow("No answer.");
  expect(context.stderr.text()).toEndWith("\r\u001b[2K");
});
