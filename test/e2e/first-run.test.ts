import { afterEach, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { cleanEnvironment, emptyFolder, freePort, type Server, startServer } from "../helpers/server.ts";
import { createApi, type WireBody } from "./support/api.ts";
import { keyIn } from "./support/command.ts";
import { inTerminal, type TerminalProcess } from "./support/terminal.ts";

const IMAGE = { model: "sandbox-image", prompt: "x", size: "16x16", sandbox: { delay_ms: 0 } };
const CTRL_C = "\x03";

const running: (Server | TerminalProcess)[] = [];

afterEach(async () => {
  for (const each of running.splice(0)) {
    if ("stop" in each) await each.stop();
    else each.kill();
  }
});

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

describe("the first start in an empty folder", () => {
  test("makes a data folder for its owner alone, and leaves the first key in a file nobody else can read", async () => {
    const server = await startServer();
    running.push(server);
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
    running.push(server);
    const output = server.stdout() + server.stderr();
    const ready = output.split("\n").find((line) => line.includes("ready"));
    expect(JSON.parse(ready ?? "")).toMatchObject({ url: server.url });
    expect(output).toContain("bootstrap.json");
    expect(output).not.toContain(server.firstKey());
  });

  test("is followed by others that show no key and change none", async () => {
    const first = await startServer();
    const key = first.firstKey();
    const written = readFileSync(join(first.dataDir, "bootstrap.json"), "utf8");
    await first.stop();
    const second = await startServer({ folder: first.folder });
    running.push(second);
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
    running.push(first);
    await first.shows(/Ready in \d+ ms/);
    const screen = first.screen();
    expect(screen).toContain("svc-data");
    expect(screen).toContain(`http://127.0.0.1:${port}`);
    expect(screen).toContain("sandbox-image");
    expect(existsSync(join(folder, "svc-data/bootstrap.json"))).toBe(false);
    const key = keyIn(screen);

    const answer = await runCurl(screen);
    expect(answer).toMatchObject({ code: 200, data: { task_id: expect.stringMatching(/^task_/) } });
    const api = createApi(`http://127.0.0.1:${port}`, key);
    expect((await api.wait(answer.data?.task_id ?? "")).status).toBe("completed");

    const id = await api.accept({ ...IMAGE, sandbox: { delay_ms: 2_000 } });
    first.press(CTRL_C);
    expect(await first.exited).toBe(0);
    const second = inTerminal(["serve", "--port", String(port)], folder);
    running.push(second);
    await second.shows(/Ready in \d+ ms/);
    expect(second.screen()).not.toContain(key);
    expect(second.screen()).toMatch(/1 task/);
    expect((await api.wait(id)).status).toBe("completed");
    second.press(CTRL_C);
    expect(await second.exited).toBe(0);
  }, 20_000);
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
