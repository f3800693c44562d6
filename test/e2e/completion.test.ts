import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Server, startServer, stopServers } from "../helpers/server.ts";
import { arranged, svc, svcJson } from "./support/command.ts";
import { type Shell, startShell } from "./support/shells.ts";

setDefaultTimeout(120_000);

/** Without the files in which their users keep settings. */
const SHELLS = {
  bash: { command: ["bash", "--norc", "--noprofile", "-i"], load: "source <(svc complete bash)" },
  zsh: { command: ["zsh", "-f", "-i"], load: "source <(svc complete zsh)" },
  fish: { command: ["fish", "--no-config", "-i"], load: "svc complete fish | source" },
} as const;

/** A name that holds commands of a shell. */
const HOSTILE = "R&D;touch$(id)";

let server: Server;
let env: Record<string, string>;
let task = "";

beforeAll(async () => {
  server = await startServer();
  env = { SVC_SERVER: server.url, SVC_API_KEY: server.firstKey() };
  for (const name of ["web-production", HOSTILE])
    await arranged(["keys", "create", "--name", name, "--data-dir", server.dataDir]);
  const submitted = await svcJson(["task", "submit", "-m", "sandbox-image", "-p", "x", "--wait"], { env });
  task = /task_[0-9a-z]{26}/.exec(JSON.stringify(submitted))?.[0] ?? "";
  writeFileSync(join(server.folder, "photograph.png"), "");
});

afterAll(stopServers);

/** What is typed, and what the shell makes of it at the Tab key. */
const COMPLETED: readonly (readonly [typed: string, completed: () => string])[] = [
  ["svc acco", () => "svc accounts "],
  ["svc keys revo", () => "svc keys revoke "],
  ["svc keys create --rp", () => "svc keys create --rpm "],
  ["svc usage --by mo", () => "svc usage --by model "],
  ["svc usage --by=mo", () => "svc usage --by=model "],
  ["svc --json keys rot", () => "svc --json keys rotate "],
  ["svc keys show web-", () => "svc keys show web-production "],
  ["svc keys show R", () => "svc keys show R\\&D\\;touch\\$\\(id\\) "],
  ["svc providers show repli", () => "svc providers show replicate "],
  ["svc task get task_", () => `svc task get ${task} `],
  ["svc models show sandbox-image-b", () => "svc models show sandbox-image-"],
  ["svc task submit -m sandbox-image -i siz", () => "svc task submit -m sandbox-image -i size="],
  ["svc task download task_1 -o photo", () => "svc task download task_1 -o photograph.png "],
  ["svc task submit -i image_url=@photo", () => "svc task submit -i image_url=@photograph.png "],
  ["svc help exit", () => "svc help exit-codes "],
];

describe.each(Object.entries(SHELLS))("%s", (name, { command, load }) => {
  const isMissing = Bun.which(name) === null;
  test.skipIf(isMissing)("completes commands, flags, values, names and files", async () => {
    using shell = startShell(command, server.folder, env);
    shell.type(`${load}; echo rea""dy\r`);
    await shell.shows(/^ready/m);
    for (const [typed, completed] of COMPLETED) await completes(shell, typed, completed());
  });
});

const AGAIN_MS = 5_000;

async function completes(shell: Shell, typed: string, completed: string): Promise<void> {
  const whole = new RegExp(`${completed.trimEnd().replaceAll(/[.*+?^$()|[\]\\]/g, "\\$&")}`);
  // Values are asked for in a tenth of a second, or left: on a busy machine Tab is pressed again.
  for (let more = 4; ; more--) {
    shell.type(`${typed}\t`);
    const isShown = await shell.shows(whole, AGAIN_MS).then(
      () => true,
      (error) => more === 0 && Promise.reject(error),
    );
    if (isShown) break;
    shell.type("\u0015\f");
  }
  // A mark shows where the shell left the cursor: after a space, or ready for more of the word.
  shell.type("X");
  await shell.shows(new RegExp(`${completed.replaceAll(/[.*+?^$()|[\]\\]/g, "\\$&")}[^\\s]*X`));
  // Ctrl-U and Ctrl-L: an empty line on an empty screen.
  shell.type("\u0015\f");
}

describe("the answers to a shell", () => {
  const ask = async (words: readonly string[], options: Parameters<typeof svc>[1] = {}) =>
    await svc(["__complete", "--", ...words], { folder: server.folder, ...options });

  test("are words with what they are, and how to go on", async () => {
    const { stdout, stderr, exitCode } = await ask(["keys", "re"]);
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
    expect(stdout).toBe("revoke\trefuse a key from now on, by id or name\n:words\n");
  });

  test("can be asked for by a shell that passes no empty words", async () => {
    const answers = await Promise.all([
      svc(["__complete", "--empty", "--", "callbacks", "trigger"]),
      ask(["callbacks", "trigger", ""]),
    ]);
    expect(answers.map(({ stdout }) => stdout)).toEqual(Array(2).fill("completed\nfailed\n:words\n"));
  });

  test("are empty and silent when the server is away, refuses the key, or is none", async () => {
    const never = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Promise<Response>(() => {}) });
    const html = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("<html>") });
    const servers = ["http://127.0.0.1:9", `http://127.0.0.1:${never.port}`, `http://127.0.0.1:${html.port}`];
    const answers = await Promise.all([
      ...servers.map((SVC_SERVER) => ask(["task", "get", ""], { env: { ...env, SVC_SERVER } })),
      ask(["task", "get", ""], { env: { ...env, SVC_API_KEY: "sk-svc-wrong" } }),
      ask(["task", "get", ""]),
      ask(["keys", "show", "--data-dir", "/nowhere", ""]),
      ask(["nonsense", ""]),
    ]);
    for (const { stdout, stderr, exitCode } of answers)
      expect({ stdout, stderr, exitCode }).toEqual({ stdout: ":words\n", stderr: "", exitCode: 0 });
    await Promise.all([never.stop(true), html.stop(true)]);
  });

  test("never hold what a terminal takes for a command, nor a secret", async () => {
    const name = "evil\u001b[2Jname";
    await arranged(["keys", "create", "--name", "plain", "--data-dir", server.dataDir]);
    const hostile = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: () =>
        Response.json({
          code: 200,
          message: "success",
          data: { models: [{ id: name }, { id: "good", name }] },
        }),
    });
    const { stdout } = await ask(["models", "show", ""], {
      env: { ...env, SVC_SERVER: `http://127.0.0.1:${hostile.port}` },
    });
    expect(stdout).toBe("good\tevil\\u001b[2Jname\n:words\n");
    expect((await ask(["task", "list", "--key", ""], { env })).stdout).toBe(":words\n");
    await hostile.stop(true);
  });
});
