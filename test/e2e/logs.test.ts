import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { cleanEnvironment, type Server, SVC, startServer, stopServers } from "../helpers/server.ts";
import { type Api, createApi } from "./support/api.ts";
import { arranged, svc, svcJson } from "./support/command.ts";

setDefaultTimeout(120_000);
afterAll(stopServers);

const IMAGE = { model: "sandbox-image", size: "16x16", prompt: "a fox", sandbox: { delay_ms: 0 } };

let server: Server;
let api: Api;
let task: string;

interface Lines {
  readonly lines: readonly Readonly<Record<string, unknown>>[];
}
const read = async (...args: string[]) =>
  ((await svcJson(["logs", "--data-dir", server.dataDir, ...args])) as Lines).lines;
/** The same once there are as many lines: the server gathers them for a tenth of a second. */
async function readAll(count: number, ...args: string[]): Promise<Lines["lines"]> {
  for (;;) {
    const lines = await read(...args);
    if (lines.length >= count) return lines;
  }
}

beforeAll(async () => {
  server = await startServer({ args: ["--log-kept-mb", "1"] });
  api = createApi(server.url, server.firstKey());
  ({ task_id: task } = await api.make(IMAGE));
  await api.send("/v1/images/generations", {
    body: { model: "none" },
    headers: { "X-Request-ID": "mine-1" },
  });
  // It writes its first lines a tenth of a second after they came.
  while (!existsSync(join(server.dataDir, "logs/svc.log"))) await Bun.sleep(5);
});

test("the lines of a task, a key and a request are found, and say whose they are and what they cost", async () => {
  const [created, ...others] = await readAll(2, "--task", task);
  const keyId = String(created?.key_id);
  expect(created).toMatchObject({
    ...{ level: "info", msg: "request", task, model: "sandbox-image", key: "default", status: 200 },
    ...{ account: expect.stringMatching(/^acc_/), key_id: expect.stringMatching(/^key_/), cost: "0.010000" },
    ...{ request_id: expect.stringMatching(/^req_/), method: "POST", path: "/v1/images/generations" },
  });
  expect(others.map(({ msg }) => msg)).toContain("task completed");
  const [refused] = await readAll(1, "--request", "mine-1");
  expect(refused).toMatchObject({ status: 404, error_code: "model_not_available" });
  const ofKey = await readAll(2, "--key", "default");
  expect(await read("--key", keyId)).toEqual([...ofKey]);
  expect(await read("--key", "default", "--last", "1")).toEqual(ofKey.slice(-1));
  expect(await read("--level", "error")).toEqual([]);
});

test("people get a line for each, with date and time", async () => {
  await readAll(1, "--request", "mine-1");
  const { stdout, exitCode } = await svc(["logs", "--data-dir", server.dataDir, "--request", "mine-1"]);
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(
    /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d info {2}POST \/v1\/images\/generations 404 .*request_id=mine-1/,
  );
  expect(stdout.trimEnd().split("\n")).toHaveLength(1);
});

test("the files are for the server's user alone, and hold no key and no prompt", async () => {
  const folder = join(server.dataDir, "logs");
  expect(readdirSync(folder)).toEqual(["svc.log"]);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  const text = await Bun.file(join(folder, "svc.log")).text();
  for (const secret of [api.key, IMAGE.prompt]) expect(text).not.toContain(secret);
});

test("--follow prints what is written from then on, until it is interrupted", async () => {
  const child = Bun.spawn(
    [SVC, "logs", "--data-dir", server.dataDir, "--follow", "--json", "--request", "mine-2"],
    { env: cleanEnvironment(), stdout: "pipe", stderr: "ignore" },
  );
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const asked = { headers: { "X-Request-ID": "mine-2" }, body: { model: "none" } };
  await api.send("/v1/images/generations", asked);
  const { value = "" } = await lines.read();
  expect(JSON.parse(value.split("\n")[0] ?? "")).toMatchObject({ request_id: "mine-2", status: 404 });
  child.kill("SIGINT");
  expect(await child.exited).toBe(130);
});

test("the level is changed by a token, and falls back by itself", async () => {
  const { token } = (await arranged(["tokens", "create", "--name", "ops", "--data-dir", server.dataDir])) as {
    token: string;
  };
  const env = { SVC_SERVER: server.url, SVC_MANAGEMENT_TOKEN: token };
  const level = () => svcJson(["log", "level"], { env });
  expect(await level()).toEqual({ level: "info", usual: "info", until: null });
  const changed = await svcJson(["log", "level", "debug", "--for", "1s"], { env });
  expect(changed).toMatchObject({ level: "debug", usual: "info", until: expect.any(Number) });
  await fetch(`${server.url}/healthz`, { keepalive: false, headers: { "X-Request-ID": "mine-3" } });
  await server.says(/"before":"debug".*the level of the log is changed/);
  expect(await level()).toEqual({ level: "info", usual: "info", until: null });
  expect(await readAll(1, "--request", "mine-3")).toMatchObject([{ level: "debug", path: "/healthz" }]);
  await fetch(`${server.url}/healthz`, { keepalive: false, headers: { "X-Request-ID": "mine-4" } });
  expect(await read("--request", "mine-4")).toEqual([]);
  const { exitCode, stderr } = await svc(["log", "level", "loud"], { env });
  expect([exitCode, stderr.includes("debug, info, warn, error")]).toEqual([2, true]);
});
