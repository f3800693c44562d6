import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { Webhook } from "standardwebhooks";
import { svc as svcHere } from "../cli/support.ts";
import { freePort } from "../helpers/free-port.ts";
import { cleanEnvironment, emptyFolder, SVC, startServer, stopServers } from "../helpers/server.ts";
import { type Api, createApi } from "./support/api.ts";
import { svc, svcJson } from "./support/command.ts";
import { ALLOW_LOOPBACK } from "./support/slow-source.ts";

setDefaultTimeout(120_000);

const IMAGE = { model: "sandbox-image", prompt: "x", size: "16x16", sandbox: { delay_ms: 0 } };
/** No task fails here for want of time, and no send of it waits long for the next. */
const SERVE = [...ALLOW_LOOPBACK, "--callbacks-delays-seconds", "0.05,0.05,0.05,0.05"];

/** What a line of `listen --print-json` holds. */
interface Line {
  readonly task_id: string;
  readonly callback_id: string | null;
  readonly headers: Record<string, string>;
  readonly body: string;
  readonly forward: { readonly status: number | null } | null;
}

interface Received {
  readonly headers: Record<string, string>;
  readonly body: string;
}

const open: { stop(now: boolean): Promise<void> }[] = [];
const listeners: { end(): Promise<number> }[] = [];
const port = freePort();
const folder = emptyFolder("callbacks-cli");
let server: Awaited<ReturnType<typeof startServer>>;
let api: Api;
let key = "";
let secret = "";

beforeAll(async () => {
  server = await startServer({ port, folder, args: SERVE });
  key = server.firstKey();
  api = createApi(server.url, key);
  const signing = ["keys", "update", "default", "--callback-secret", "new", "--show-secret-only"];
  secret = (await svc([...signing, "--data-dir", server.dataDir])).stdout.trim();
});

afterEach(async () => {
  for (const listener of listeners.splice(0)) await listener.end();
  for (const receiver of open.splice(0)) await receiver.stop(true);
});

afterAll(stopServers);

const access = () => ({ SVC_SERVER: server.url, SVC_API_KEY: key });
const callbacks = (...args: string[]) => svc(["callbacks", ...args], { env: access() });
const callbacksJson = (...args: string[]) => svcJson(["callbacks", ...args], { env: access() });

/** Answers with the statuses given, one after the other, then with 204. */
function openReceiver(...statuses: readonly number[]) {
  const left = [...statuses];
  const received: Received[] = [];
  const receiver = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      received.push({ headers: request.headers.toJSON(), body: await request.text() });
      return new Response("noted", { status: left.shift() ?? 204 });
    },
  });
  open.push(receiver);
  return { url: `http://127.0.0.1:${receiver.port}/hook?token=7`, received };
}

/** `svc callbacks listen --print-json`, once it listens. */
async function listen(...args: string[]) {
  const child = Bun.spawn([SVC, "callbacks", "listen", "--print-json", ...args], {
    cwd: folder,
    env: cleanEnvironment(access()),
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  listeners.push({
    end() {
      child.kill("SIGINT");
      return child.exited;
    },
  });
  const [stdout, stderr] = [linesOf(child.stdout), linesOf(child.stderr)];
  expect(await stderr()).toStartWith("Listening on ");
  return {
    next: async (): Promise<Line> => JSON.parse(await stdout()),
    end: async () => listeners.pop()?.end(),
  };
}

function linesOf(stream: ReadableStream<Uint8Array>): () => Promise<string> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let text = "";
  return async () => {
    while (!text.includes("\n")) {
      const { done, value } = await reader.read();
      if (done) throw new Error(`The command has ended: ${text}`);
      text += decoder.decode(value, { stream: true });
    }
    const [line = ""] = text.split("\n", 1);
    text = text.slice(line.length + 1);
    return line;
  };
}

/** Looks in this process until a callback is in a state, and has the executable print it then. */
async function untilState(task: string, state: string) {
  const show = ["callbacks", "show", task, "--json"];
  for (let tries = 0; tries < 1000; tries++) {
    const { stdout } = await svcHere(show, { env: cleanEnvironment(access()) });
    if (stdout !== "" && JSON.parse(stdout).state === state)
      return JSON.parse((await svc(show, { env: access() })).stdout);
    await Bun.sleep(20);
  }
  throw new Error(`The callback of ${task} is never ${state}.`);
}

describe("svc callbacks listen", () => {
  test("forwards what the server signed, so that the receiver can verify it, also of tasks without a callback_url", async () => {
    const { url, received } = openReceiver(200, 500);
    const { next, end } = await listen("--forward", url);
    const completed = await api.accept(IMAGE);
    const first = await next();
    const failed = await api.accept({ ...IMAGE, sandbox: { delay_ms: 0, outcome: "failed" } });
    const second = await next();
    expect([first, second]).toMatchObject([
      { task_id: completed, callback_id: null, url: null, forward: { status: 200 } },
      { task_id: failed, callback_id: null, url: null, forward: { status: 500 } },
    ]);
    expect(received.map(({ body }) => body)).toEqual([first.body, second.body]);
    for (const { headers, body } of received) {
      expect(headers["user-agent"]).toBe("Service-Callback/1.0");
      expect(headers.authorization).toBeUndefined();
      expect(() => new Webhook(secret).verify(body, headers)).not.toThrow();
    }
    expect(await end()).toBe(130);
  });

  test("misses nothing and tells nothing twice when the server is killed and comes back", async () => {
    const { url, received } = openReceiver();
    const { next } = await listen("--forward", url);
    const told: string[] = [];
    const created: string[] = [];
    for (let round = 0; round < 3; round++) {
      for (let count = 0; count < 5; count++) created.push(await api.accept(IMAGE));
      told.push((await next()).task_id);
      server.signal("SIGKILL");
      await server.exited;
      server = await startServer({ port, folder, args: SERVE });
    }
    while (told.length < created.length) told.push((await next()).task_id);
    expect(told.toSorted()).toEqual(created.toSorted());
    expect(received.map(({ body }) => JSON.parse(body).task_id).toSorted()).toEqual(told.toSorted());
    created.push(await api.accept(IMAGE));
    expect((await next()).task_id).toBe(created.at(-1) ?? "");
  }, 60_000);

  test("with --replay begins with the first task there is, and hears of redeliveries", async () => {
    const { url } = openReceiver();
    const task = await api.accept({ ...IMAGE, callback_url: url });
    await untilState(task, "delivered");
    const { next } = await listen("--replay");
    let line = await next();
    while (line.task_id !== task) line = await next();
    const { callback_id } = line;
    expect(callback_id).toStartWith("cb_");
    await callbacks("redeliver", task);
    expect(await next()).toMatchObject({ task_id: task, callback_id, body: line.body });
  });

  test("ends with 4 for a key the server does not know", async () => {
    const { exitCode } = await svc(["callbacks", "listen"], {
      env: { ...access(), SVC_API_KEY: `${key.slice(0, -1)}!` },
    });
    expect(exitCode).toBe(4);
  });
});

describe("svc callbacks", () => {
  test("show tells of every send to a receiver that was down, and redeliver makes it delivered", async () => {
    const { url, received } = openReceiver(500, 500, 500, 500, 500);
    const task = await api.accept({ ...IMAGE, callback_url: url });
    const failed = await untilState(task, "failed");
    expect(failed.history).toHaveLength(5);
    expect(failed.history[4]).toMatchObject({
      sequence: 5,
      kind: "attempt",
      outcome: "refused",
      status: 500,
    });
    expect(JSON.stringify(failed.payload)).toBe(received[0]?.body ?? "");

    const listed = await callbacks("list", "--state", "failed", "--task", task, "--since", "1h");
    expect(listed.stdout).toBe(
      `${[failed.id, task, "failed", "5/5", "", url.replace("token=7", "…")].join("\t")}\t${failed.created_at.replace("T", " ").replace(/\.\d+/, "")}\n`,
    );
    expect((await callbacks("redeliver", task)).stdout).toBe(`${failed.id}\n`);
    const delivered = await untilState(task, "delivered");
    expect(delivered.history[5]).toMatchObject({ kind: "redelivery", outcome: "delivered", status: 204 });
    expect(received).toHaveLength(6);
  });

  test("redeliver beside the data folder has the running server send it", async () => {
    const { url, received } = openReceiver(...Array<number>(5).fill(503));
    const task = await api.accept({ ...IMAGE, callback_url: url });
    await untilState(task, "failed");
    const asked = await callbacks("redeliver", task, "--data-dir", server.dataDir);
    expect(asked.stderr).toContain("within a second where a server runs");
    await untilState(task, "delivered");
    expect(received).toHaveLength(6);
  });

  test("redeliver --since sends all of a range once more, outside the five", async () => {
    const { url, received } = openReceiver(...Array<number>(10).fill(503));
    const since = new Date().toISOString();
    const tasks = await Promise.all([1, 2].map(() => api.accept({ ...IMAGE, callback_url: url })));
    for (const task of tasks) await untilState(task, "failed");
    const again = await callbacksJson("redeliver", "--since", since, "--state", "failed");
    expect(again).toMatchObject({ callbacks: [{ redelivery_due: true }, { redelivery_due: true }] });
    for (const task of tasks) expect((await untilState(task, "delivered")).attempts).toBe(5);
    expect(received).toHaveLength(12);
  });

  test("redeliver --forward posts from here what the callback says", async () => {
    const there = openReceiver();
    const here = openReceiver();
    const task = await api.accept({ ...IMAGE, callback_url: there.url });
    await untilState(task, "delivered");
    const printed = await callbacksJson("redeliver", task, "--forward", here.url);
    expect(printed).toMatchObject({ callbacks: [{ task_id: task, forward: { status: 204, error: null } }] });
    expect(here.received.map(({ body }) => body)).toEqual([there.received[0]?.body ?? ""]);
    expect((await untilState(task, "delivered")).history).toHaveLength(1);
  });

  test("trigger shows how a receiver answered, and fails when it refused", async () => {
    const { url, received } = openReceiver(204, 500, 500, 500, 500, 500);
    const taken = await callbacks("trigger", "completed", "--url", url, "--json");
    expect([taken.exitCode, JSON.parse(taken.stdout)]).toEqual([
      0,
      expect.objectContaining({ state: "delivered", history: [expect.objectContaining({ status: 204 })] }),
    ]);
    const refused = await callbacks("trigger", "failed", "--url", url);
    expect([refused.exitCode, refused.stdout]).toEqual([1, expect.stringContaining("\trefused\t500\t")]);
    expect(received.slice(0, 2).map(({ body }) => JSON.parse(body).status)).toEqual(["completed", "failed"]);
  });

  test("trigger says that a server has no sandbox", async () => {
    const other = await startServer({ args: ["--no-sandbox"] });
    const env = { SVC_SERVER: other.url, SVC_API_KEY: other.firstKey() };
    const { exitCode, stderr } = await svc(["callbacks", "trigger", "completed"], { env });
    expect([exitCode, stderr]).toEqual([5, expect.stringContaining("There is no sandbox for this key")]);
    await other.stop();
  });

  test("show knows what is not there", async () => {
    expect((await callbacks("show", "cb_01jd0000000000000000000000")).exitCode).toBe(5);
    expect((await callbacks("show", await api.accept(IMAGE))).exitCode).toBe(5);
  });
});
