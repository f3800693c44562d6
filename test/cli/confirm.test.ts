import { describe, expect, test } from "bun:test";
import { runProgram } from "../../cli/program.ts";
import { emptyFolder, fakeContext, svc } from "./support.ts";

async function folderWithKey(): Promise<string> {
  const cwd = emptyFolder();
  await svc(["migrate"], { cwd });
  await svc(["keys", "create", "--name", "web"], { cwd });
  return cwd;
}

async function statusOfKey(cwd: string): Promise<string> {
  return (await svc(["keys", "list", "--field", "keys.0.status"], { cwd })).stdout.trim();
}

/** Runs a command on a terminal where somebody types. */
async function onTerminal(cwd: string, typed: readonly string[], ...args: string[]) {
  const context = fakeContext({ isTerminal: true, cwd, typed });
  const exitCode = await runProgram(args, context);
  return { exitCode, stderr: Bun.stripANSI(context.stderr.text()) };
}

describe("what cannot be undone", () => {
  test.each([["y"], ["yes"], [" Y "]])("is asked for on a terminal, and done after %p", async (answer) => {
    const cwd = await folderWithKey();
    const { exitCode, stderr } = await onTerminal(cwd, [answer], "keys", "revoke", "web");
    expect(exitCode).toBe(0);
    expect(stderr).toStartWith(
      "Revoke key web in ./svc-data? A revoked key never becomes valid again. [y/N] ",
    );
    expect(await statusOfKey(cwd)).toBe("revoked");
  });

  test.each([[["n"]], [[""]], [["web"]], [[]]])("is not done after %p", async (typed: string[]) => {
    const cwd = await folderWithKey();
    const { exitCode, stderr } = await onTerminal(cwd, typed, "keys", "revoke", "web");
    expect(exitCode).toBe(1);
    expect(stderr).toContain("Nothing was changed.");
    expect(await statusOfKey(cwd)).toBe("active");
  });

  test("is refused where nobody can be asked", async () => {
    const cwd = await folderWithKey();
    const answers = await Promise.all([
      svc(["keys", "revoke", "web"], { cwd }),
      onTerminal(cwd, ["y"], "keys", "revoke", "web", "--no-input"),
    ]);
    for (const { exitCode, stderr } of answers) {
      expect(exitCode).toBe(2);
      expect(stderr).toEndWith("nobody can be asked here.\n  Repeat it with --yes.\n");
    }
    expect(await statusOfKey(cwd)).toBe("active");
  });

  test.each([
    [["tokens", "revoke", "x"]],
    [["accounts", "suspend", "x"]],
    [["pricing", "reset", "sandbox-image"]],
  ])("%p is one of these", async (args: string[]) => {
    const { exitCode, stderr } = await svc(args, { cwd: await folderWithKey() });
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining("Repeat it with --yes.")]);
  });

  test("is told in the help of the commands that ask, and only there", async () => {
    const asks = await Promise.all(
      ["keys revoke", "keys list"].map((path) => svc([...path.split(" "), "--help"])),
    );
    expect(asks.map(({ stdout }) => stdout.includes("--yes"))).toEqual([true, false]);
  });
});
