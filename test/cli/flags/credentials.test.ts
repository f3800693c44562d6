import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { startScriptedServer, success } from "../scripted-server.ts";
import { emptyFolder, svc } from "../support.ts";

const script = {
  "GET /v1/account/status": () => success({ key: { name: "web" } }),
  "GET /admin/v1/tokens": () => success({ tokens: [] }),
};

/** Runs `svc api` in a folder with files, and tells the credential that the server saw. */
async function sent(args: readonly string[], files: Readonly<Record<string, string>>, stdin?: string) {
  using server = startScriptedServer(script);
  const cwd = emptyFolder();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, name), text);
  const ended = await svc(["api", "GET", ...args, "--server", server.url], {
    ...{ cwd, env: { SVC_API_KEY: "sk-svc-other" } },
    ...(stdin === undefined ? {} : { stdin }),
  });
  return { ...ended, credential: server.seen[0]?.headers.get("authorization") };
}

test("a key and a token are read from files, without the end of their line", async () => {
  const key = await sent(["/v1/account/status", "--key-file", "key.txt"], { "key.txt": "sk-svc-file\n" });
  expect([key.exitCode, key.credential]).toEqual([0, "Bearer sk-svc-file"]);
  const token = await sent(["/admin/v1/tokens", "--token-file", "t"], { t: " mt-svc-file\r\n" });
  expect([token.exitCode, token.credential]).toEqual([0, "Bearer mt-svc-file"]);
});

test("a key is read from standard input for -", async () => {
  const { credential } = await sent(["/v1/account/status", "--key-file", "-"], {}, "sk-svc-pipe\n");
  expect(credential).toBe("Bearer sk-svc-pipe");
});

test.each([
  ["is not there", ["--key-file", "none"], {}, 2, "error: --key-file: /"],
  ["holds nothing", ["--key-file", "empty"], { empty: "\n" }, 2, "empty holds nothing."],
  ["is a folder", ["--token-file", "."], {}, 2, "cannot be read"],
  [
    "holds more than a key",
    ["--key-file", "k"],
    { k: "sk-svc-a\nsk-svc-b\n" },
    4,
    "Give it alone in its flag or file",
  ],
  ["comes beside the flag", ["--key-file", "k", "--key", "x"], { k: "sk-svc-a" }, 2, "cannot be used with"],
])("a file that %s is refused, and nothing is sent", async (_, flags, files, exitCode, message) => {
  const ended = await sent(["/v1/account/status", ...flags], files);
  expect(ended).toMatchObject({ exitCode, credential: undefined });
  expect(ended.stderr).toContain(message);
  expect(ended.stderr).not.toContain("sk-svc-a");
});
