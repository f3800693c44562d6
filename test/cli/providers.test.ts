import { describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Keyboard } from "../../cli/context.ts";
import { runProgram } from "../../cli/program.ts";
import { keptKeyOf, readConfig } from "../../src/app/settings.ts";
import type { LaneId } from "../../src/domain/ids.ts";
import { openKey } from "../../src/runtime/kept-keys.ts";
import { createSeal } from "../../src/runtime/seal.ts";
import { openStore } from "../../src/store/open.ts";
import { emptyFolder, fakeContext, svc } from "./support.ts";

const KEY = "key-0123456789abcdef";

/** A terminal on which somebody types these lines. */
function typing(...lines: string[]): Keyboard {
  return {
    capture(onBytes) {
      onBytes(new TextEncoder().encode(`${lines.shift() ?? ""}\r`));
      return () => {};
    },
  };
}

async function onTerminal(args: readonly string[], cwd: string, ...lines: string[]) {
  const context = { ...fakeContext({ cwd, isTerminal: true }), keyboard: typing(...lines) };
  const exitCode = await runProgram([...args], context);
  return { exitCode, stderr: context.stderr.text(), stdout: context.stdout.text() };
}

const kept = (cwd: string, lane: string) => {
  const dataDir = join(cwd, "svc-data");
  const seal = createSeal({ file: join(dataDir, "secret.key") });
  const found = openKey(keptKeyOf(dataDir, lane as LaneId), seal);
  return found.kind === "opened" ? found.secrets : found.kind;
};

describe("svc providers add", () => {
  test("asks for the key without showing it, and keeps it sealed", async () => {
    const cwd = emptyFolder();
    const { exitCode, stderr, stdout } = await onTerminal(["providers", "add", "fal"], cwd, KEY);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: "" });
    expect(stderr).toContain("API key of fal (not shown):");
    expect(stderr).toContain(
      "Kept the key of fal, sealed in ./svc-data. A running server takes it up at its next start, or at svc config reload.",
    );
    expect(stderr).not.toContain(KEY);
    expect(kept(cwd, "fal")).toEqual({ key: KEY });
    const accounts = readConfig({ cwd, isServing: true }).accounts.fal?.map(({ lane }) => String(lane));
    expect(accounts).toEqual(["fal"]);
  });

  test("takes the key of another account from a pipe, and prints JSON", async () => {
    const cwd = emptyFolder();
    const args = ["providers", "add", "fal", "--account", "second", "--key-stdin", "--json"];
    const { exitCode, stdout, stderr } = await svc(args, { cwd, stdin: `${KEY}\n` });
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      provider: "fal",
      account: "second",
      data_dir: join(cwd, "svc-data"),
    });
    expect(stdout + stderr).not.toContain(KEY);
    expect(kept(cwd, "fal/second")).toEqual({ key: KEY });
  });

  test("is noted in the trail of a folder that has one, without the key, and so is the removal", async () => {
    const cwd = emptyFolder();
    mkdirSync(join(cwd, "svc-data"));
    await openStore({ path: join(cwd, "svc-data/svc.db") }).stop();
    const account = ["fal", "--account", "second"];
    await svc(["providers", "add", ...account, "--key-stdin"], { cwd, stdin: `${KEY}\n` });
    await svc(["providers", "remove", ...account, "--yes"], { cwd });
    await svc(["providers", "remove", ...account, "--yes"], { cwd });
    const { stdout } = await svc(["audit", "log", "--object", "fal/second", "--json"], { cwd });
    const { entries } = JSON.parse(stdout) as { entries: { action: string; actor: { kind: string } }[] };
    expect(entries.map(({ action, actor }) => [action, actor.kind])).toEqual([
      ["provider.remove", "local"],
      ["provider.add", "local"],
    ]);
    expect(stdout).not.toContain(KEY);
  });

  test("asks for the secrets of the other kind of account where the first is left empty", async () => {
    const cwd = emptyFolder();
    const { exitCode, stderr } = await onTerminal(["providers", "add", "kling"], cwd, "", "ak-1", "sk-1");
    expect(exitCode).toBe(0);
    expect(stderr).toContain("press Enter to give access_key and secret_key instead");
    expect(kept(cwd, "kling")).toEqual({ access_key: "ak-1", secret_key: "sk-1" });
    await svc(["providers", "add", "kling", "--account", "b", "--key-stdin"], { cwd, stdin: "ak-2\nsk-2\n" });
    expect(kept(cwd, "kling/b")).toEqual({ access_key: "ak-2", secret_key: "sk-2" });
  });

  test("says when the customary variable counts before the kept key", async () => {
    const cwd = emptyFolder();
    const args = ["providers", "add", "fal", "--key-stdin"];
    const { stderr } = await svc(args, { cwd, env: { FAL_KEY: "other" }, stdin: KEY });
    expect(stderr).toContain("FAL_KEY is set, and counts before it where the server sees it.");
  });

  test.each([
    [["add", "fall"], 5, 'There is no provider "fall". Did you mean fal?'],
    [["add", "nobody"], 5, 'There is no provider "nobody". svc providers list --all has them all.'],
    [["add", "sandbox"], 2, "sandbox has no key to keep."],
    [["add", "fal", "--account", "No Name"], 2, "--account takes up to 32 lower-case letters"],
    [["add", "fal"], 2, "Nobody can be asked here."],
    [["remove", "fal", "--yes"], 5, "No key of fal is kept in ./svc-data."],
    [["remove", "fal"], 2, "nobody can be asked here"],
  ])("%j is refused", async (args, code, message) => {
    const cwd = emptyFolder();
    const { exitCode, stderr } = await svc(["providers", ...args], { cwd });
    expect(exitCode).toBe(code);
    expect(stderr.replaceAll(/\s+/g, " ")).toContain(message);
    expect(readdirSync(cwd)).toEqual([]);
  });

  test("shows nothing of what is no key", async () => {
    const cwd = emptyFolder();
    const { exitCode, stderr } = await svc(["providers", "add", "fal", "--key-stdin"], {
      cwd,
      stdin: `${KEY} with words\n`,
    });
    expect(exitCode).toBe(2);
    expect(stderr).toContain("API key must be a key: up to 512 printable ASCII characters without spaces.");
    expect(stderr).not.toContain(KEY);
  });
});

test("svc providers remove forgets the key of one account", async () => {
  const cwd = emptyFolder();
  for (const account of ["default", "second"])
    await svc(["providers", "add", "fal", "--account", account, "--key-stdin"], { cwd, stdin: KEY });
  const { exitCode, stderr } = await svc(["providers", "remove", "fal", "--yes"], { cwd });
  expect([exitCode, stderr]).toEqual([
    0,
    "✓ Removed the key of fal. A running server uses it until it stops, or until svc config reload.\n",
  ]);
  const folder = join(cwd, "svc-data/provider-keys");
  expect(readdirSync(folder)).toEqual(["fal.second.json"]);
  expect(readFileSync(join(folder, "fal.second.json"), "utf8")).not.toContain(KEY);
});
