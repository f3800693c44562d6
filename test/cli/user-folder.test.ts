import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { homedir } from "node:os";
import { userFolder } from "../../cli/user-folder.ts";
import { emptyFolder, svc } from "./support.ts";

describe("a folder of a user", () => {
  test.each([
    [{ XDG_CONFIG_HOME: "/etc/me", HOME: "/home/me" }, "/etc/me"],
    [{ XDG_CONFIG_HOME: "", HOME: "/home/me" }, "/home/me/.config"],
    [{ XDG_CONFIG_HOME: "here", HOME: "/home/me" }, "/home/me/.config"],
    [{ HOME: "" }, `${homedir()}/.config`],
    [{}, `${homedir()}/.config`],
    [{ HOME: "here" }, undefined],
  ])("with %j is %p", (env: Record<string, string>, folder) => {
    expect(userFolder({ env }, "XDG_CONFIG_HOME", ".config")).toBe(folder);
  });
});

describe("without a home folder", () => {
  const env = { HOME: "here" };

  test("there are no profiles, and commands do what needs none", async () => {
    const cwd = emptyFolder();
    expect(await svc(["migrate"], { cwd, env })).toMatchObject({ exitCode: 0 });
    expect(await svc(["keys", "list"], { cwd, env })).toMatchObject({
      exitCode: 0,
      stderr: "There are no keys in ./svc-data. Make one: svc keys create --name NAME\n",
    });
    expect(readdirSync(cwd)).toEqual(["svc-data"]);
  });

  test("none can be made, and that is said before a secret is asked for", async () => {
    const { exitCode, stderr } = await svc(["login"], { env });
    expect([exitCode, stderr]).toEqual([
      12,
      "error: There is no home folder to keep profiles in.\n  Set HOME to the path of one.\n",
    ]);
  });
});
