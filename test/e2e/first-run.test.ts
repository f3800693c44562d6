import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../helpers/free-port.ts";
import { cleanEnvironment, emptyFolder, spawnServer, startServer, stopServers } from "../helpers/server.ts";
import { createApi, type WireBody } from "./support/api.ts";
import { keyIn } from "./support/command.ts";
import { inTerminal, type TerminalProcess } from "./support/terminal.ts";

setDefaultTimeout(120_000);

const IMAGE = { model: "sandbox-image", prompt: "x", size: "16x16", sandbox: { delay_ms: 0 } };
const CTRL_C = "\x03";

const terminals: TerminalProcess[] = [];

afterEach(async () => {
  for (const terminal of terminals.splice(0)) terminal.kill();
  await stopServers();
});

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

describe("the first start in an empty folder", () => {
  test("makes a data folder for its owner alone, and leaves the first key in a file nobody else can read", async () => {
    const server = await startServer();
    expect(readdirSync(server.folder)).toEqual(["svc-data"]);
    expect(modeOf(server.dataDir)).toBe("700");
    expect(modeOf(join(server.dataDir, "bootstrap.json"))).toBe("600");
    expect(JSON.parse(readFileSync(join(server.dataDir, "bootstrap.json"), "utf8"))).toMatchObject({
      key: expect.stringMatching(/^sk-svc-[0-9A-Za-z]{38}$/),
    });
    expect((await createApi(server.url, server.firstKey()).make(IMAGE)).status).toBe("completed");
  });

  test("says in one line of JSON that it is ready, where, and where the key is, but not the key", async () => {
    const server = await startServer();
    expect(JSON.parse(await server.says(/"ready"/))).toMatchObject({ url: server.url });
    expect(JSON.parse(await server.says(/bootstrap/)).file).toBe(join(server.dataDir, "bootstrap.json"));
    expect(server.stdout() + server.stderr()).not.toContain(server.firstKey());
  });

  test("leaves the key before it says that it is ready", async () => {
    const server = spawnServer();
    const deadline = performance.now() + 60_000;
    let status = 0;
    while (status !== 200 && performance.now() < deadline) {
      status = await fetch(`${server.url}/readyz`, { keepalive: false }).then(
        (response) => response.status,
        () => 0,
      );
    }
    expect(status).toBe(200);
    expect(server.firstKey()).toStartWith("sk-svc-");
  });

  test("that fails because the port is taken leaves the key to the next one", async () => {
    const other = await startServer();
    const failed = spawnServer({ port: other.port });
    expect(await failed.exited).toBe(1);
    const second = await startServer({ folder: failed.folder });
    expect((await createApi(second.url, second.firstKey()).make(IMAGE)).status).toBe("completed");
  });

  test("is followed by others that show no key and change none", async () => {
    const first = await startServer();
    const key = first.firstKey();
    const written = readFileSync(join(first.dataDir, "bootstrap.json"), "utf8");
    await first.stop();
    const second = await startServer({ folder: first.folder });
    expect(readFileSync(join(first.dataDir, "bootstrap.json"), "utf8")).toBe(written);
    expect((await createApi(second.url, key).make(IMAGE)).status).toBe("completed");
    expect(second.stdout() + second.stderr()).not.toMatch(/sk-svc-/);
  });
});

describe("on a terminal", () => {
  test("the first start shows a key and a command that works as it stands, the second resumes what was left", async () => {
    const folder = emptyFolder();
    const port = freePort();
    const first = inTerminal(["serve", "--port", String(port)], folder);
    terminals.push(first);
    await first.shows(/Ready in \d+ ms/);
    const screen = first.screen();
    expect(screen).toContain("svc-data");
    expect(screen).toContain(`http://127.0.0.1:${port}`);
    expect(screen).toContain("sandbox-image");
    expect(existsSync(join(folder, "svc-data/bootstrap.json"))).toBe(false);
    const key = keyIn(screen);

    const { code, data } = await runCurl(screen);
    expect(code).toBe(200);
    const api = createApi(`http://127.0.0.1:${port}`, key);
    expect((await api.wait(data?.task_id ?? "")).status).toBe("completed");

    const id = await api.accept({ ...IMAGE, sandbox: { delay_ms: 2_000 } });
    first.press(CTRL_C);
    expect(await first.exited).toBe(0);
    const second = inTerminal(["serve", "--port", String(port)], folder);
    terminals.push(second);
    await second.shows(/Ready in \d+ ms/);
    expect(second.screen()).not.toContain(key);
    // The banner tells what a start did, not what was done before.
    expect(first.screen()).toMatch(/svc-data {2}\(created, 0700\).*svc\.db {2}\(\d+ migrations applied\)/s);
    expect(second.screen()).toMatch(/svc\.db {2}\(up to date\)/);
    expect(second.screen()).not.toContain("created");
    expect(second.screen()).toMatch(/1 task/);
    expect((await api.wait(id)).status).toBe("completed");
    second.press(CTRL_C);
    expect(await second.exited).toBe(0);
  });
});

describe("on a terminal", () => {
  /** All that the terminal was told by a server that starts. */
  async function told(flags: readonly string[], env: Readonly<Record<string, string>>): Promise<string> {
    const server = inTerminal(["serve", "--port", "0", ...flags], emptyFolder(), env);
    terminals.push(server);
    await server.shows(/Ready in \d+ ms.*INFO: ready/s);
    return server.raw();
  }
  const COLOUR = "\u001b[";

  test("the banner and the log have colours", async () => {
    expect(await told([], {})).toContain(`${COLOUR}32mINFO`);
  });

  test.each([
    ["--no-color", ["--no-color"], {}],
    ["NO_COLOR", [], { NO_COLOR: "1" }],
    ["TERM=dumb", [], { TERM: "dumb" }],
  ])("neither has any with %s", async (_, flags, env) => {
    expect(await told(flags, env)).not.toContain(COLOUR);
  });
});

test("a first start that fails on a terminal shows its key at the next one", async () => {
  const other = await startServer();
  const folder = emptyFolder();
  const failed = inTerminal(["serve", "--port", String(other.port)], folder);
  terminals.push(failed);
  expect(await failed.exited).toBe(1);
  const second = inTerminal(["serve", "--port", String(freePort())], folder);
  terminals.push(second);
  await second.shows(/Ready in \d+ ms/);
  expect(keyIn(second.screen())).toStartWith("sk-svc-");
});

/** Runs the `curl` of the screen in a shell, as somebody who pasted it. */
async function runCurl(screen: string): Promise<WireBody> {
  const lines = screen.split("\n");
  const start = lines.findIndex((line) => line.trimStart().startsWith("curl "));
  const end = lines.findIndex((line, i) => i >= start && !line.trimEnd().endsWith("\\"));
  const command = lines.slice(start, end + 1).join("\n");
  const child = Bun.spawn(["sh", "-c", command], { env: cleanEnvironment(), stdout: "pipe", stderr: "pipe" });
  const [text, errors] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  if (text === "") throw new Error(`${command}\n${errors}`);
  // Compared field by field by the test.
  return JSON.parse(text) as WireBody;
}
