import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { type Server, type ServerOptions, spawnServer, startServer, stopServers } from "../helpers/server.ts";
import { type Answer, type Api, createApi } from "./support/api.ts";
import { createCustomer } from "./support/customer.ts";
import { formOf } from "./support/forms.ts";
import { noisePng, plainImage } from "./support/pictures.ts";

setDefaultTimeout(120_000);

const GENERATIONS = "/compat/v1/images/generations";
const SLOW = { model: "sandbox-image", prompt: "x", size: "16x16", sandbox: { delay_ms: 1500 } };
/** Still not ready when a wait of a second is over, also when that is noticed late. */
const SLOWER = { ...SLOW, sandbox: { delay_ms: 3_000 } };
const HANGING = { ...SLOW, sandbox: { outcome: "hang" } };

let shared: Server;

beforeAll(async () => {
  shared = await startServer();
});

afterAll(stopServers);

interface Started {
  readonly server: Server;
  readonly api: Api;
}

async function start(options: ServerOptions = {}): Promise<Started> {
  const server = await startServer(options);
  return { server, api: createApi(server.url, server.firstKey()) };
}

/** A caller of the server of this file who has no tasks yet. */
async function arrive(): Promise<Started> {
  return { server: shared, api: (await createCustomer(shared)).api };
}

const generate = (api: Api, body: object, headers: Record<string, string> = {}) =>
  api.send(GENERATIONS, { body: { ...body }, headers });
const taskOf = (answer: Answer) => answer.headers.get("x-task-id") ?? "";
type Ids = readonly (string | undefined)[];
const taskIds = async (api: Api) =>
  ((await api.send("/v1/tasks")).data.tasks ?? []).map((task) => task.task_id);

async function untilTasks(api: Api, isSo: (ids: Ids) => boolean): Promise<Ids> {
  for (;;) {
    const ids = await taskIds(api);
    if (isSo(ids)) return ids;
    await Bun.sleep(10);
  }
}

/** Sends a request and hangs up once its task is there. */
async function abandon({ server, api }: Started, body: object): Promise<string> {
  const before = new Set(await taskIds(api));
  const gone = new AbortController();
  const sent = fetch(api.url + GENERATIONS, {
    method: "POST",
    headers: { Authorization: `Bearer ${api.key}`, "Content-Type": "application/json" },
    body: JSON.stringify(body),
    signal: gone.signal,
  }).catch(() => undefined);
  const isNew = (id: string | undefined) => !before.has(id);
  const id = (await untilTasks(api, (ids) => ids.some(isNew))).find(isNew) ?? "";
  gone.abort();
  await sent;
  // A request is left once the server has noticed, and said so in its log.
  await server.says(new RegExp(`"task":"${id}".*sync_image_timeout|sync_image_timeout.*${id}`));
  return id;
}

describe("a wait that ends before the image", () => {
  test.concurrent("answers 504 with the task, which goes on and is billed once", async () => {
    const { api } = await start({ args: ["--sync-wait-seconds", "1"] });
    const answer = await generate(api, SLOWER);
    expect([answer.status, answer.body.error?.code, answer.body.error?.type]).toEqual([
      504,
      "sync_image_timeout",
      "server_error",
    ]);
    expect(answer.headers.get("x-should-retry")).toBe("false");
    expect(answer.body.error?.message).toContain(`/v1/images/status/${taskOf(answer)}`);
    expect((await api.wait(taskOf(answer))).status).toBe("completed");
  });

  test.concurrent("is shortened by the caller's preference, and lengthened by nothing", async () => {
    const { api } = await start({ args: ["--sync-wait-seconds", "2"] });
    expect((await generate(api, HANGING, { Prefer: "wait=1" })).status).toBe(504);
    expect((await generate(api, HANGING, { Prefer: "respond-async, wait=100" })).status).toBe(504);
  });

  test.concurrent("ends at the default address's limit, and not at the long one's", async () => {
    const { server, api } = await start({ args: ["--edge-timeout-seconds", "1", "--long-port", "0"] });
    const cut = await generate(api, SLOWER);
    expect([cut.status, cut.body.error?.code]).toEqual([504, "sync_image_timeout"]);
    const long = /"long_url":"([^"]+)"/.exec(await server.says(/long_url/))?.[1] ?? "";
    const whole = createApi(long, api.key);
    expect((await generate(whole, { ...SLOW, prompt: "another" })).status).toBe(200);
  });
});

describe("a request that nobody waited for to the end, sent again,", () => {
  test.concurrent("joins its task after a 504", async () => {
    const { api } = await arrive();
    const first = await generate(api, SLOWER, { Prefer: "wait=1" });
    const again = await generate(api, SLOWER);
    expect([first.status, again.status]).toEqual([504, 200]);
    expect(taskOf(again)).toBe(taskOf(first));
    expect(again.headers.get("x-request-cost")).toBe("0.010000");
    expect(await taskIds(api)).toEqual([taskOf(first)]);
  });

  test.concurrent("joins it after a hang-up, once; the next one is new", async () => {
    const started = await arrive();
    const { api } = started;
    const left = await abandon(started, SLOW);
    const [one, two] = await Promise.all([generate(api, SLOW), generate(api, SLOW)]);
    expect([one.status, two.status]).toEqual([200, 200]);
    expect([taskOf(one), taskOf(two)].filter((id) => id === left)).toHaveLength(1);
    expect(await taskIds(api)).toHaveLength(2);
  });

  test.concurrent("is a new one when body, key or path differ, or the task failed", async () => {
    const started = await arrive();
    const { api } = started;
    await abandon(started, SLOW);
    expect((await generate(api, { ...SLOW, prompt: "y" })).status).toBe(200);
    const failing = { ...SLOW, sandbox: { delay_ms: 300, outcome: "failed" } };
    const failed = await abandon(started, failing);
    await api.wait(failed);
    const again = await generate(api, failing);
    expect(taskOf(again)).not.toBe(failed);
  });

  test.concurrent("joins the one that came to something when another one left behind did not", async () => {
    const { server, api } = await arrive();
    const gone = new AbortController();
    const left = [1, 2].map(() =>
      fetch(api.url + GENERATIONS, {
        method: "POST",
        headers: { Authorization: `Bearer ${api.key}`, "Content-Type": "application/json" },
        body: JSON.stringify(SLOW),
        signal: gone.signal,
      }).catch(() => undefined),
    );
    const ids = await untilTasks(api, ({ length }) => length === 2);
    gone.abort();
    await Promise.all(left);
    for (const id of ids) await server.says(new RegExp(`"task":"${id}".*sync_image_timeout`));
    // The first of them to be left is either; the other one is cancelled in the second round.
    const [newer = "", older = ""] = ids;
    expect((await api.send(`/v1/tasks/${older}/cancel`, { method: "POST" })).status).toBe(200);
    expect((await api.wait(older)).status).toBe("cancelled");
    const again = await generate(api, SLOW);
    expect([again.status, taskOf(again)]).toEqual([200, newer]);
  });

  test.concurrent("joins it when the client left a streamed edit before the answer began", async () => {
    const { server, api } = await start();
    const fields = { model: "sandbox-image", prompt: "x", size: "16x16", stream: "true" };
    const { headers, body } = await formOf(fields, [["image", await plainImage(16, 16)]]);
    const head = [
      "POST /compat/v1/images/edits HTTP/1.1",
      `Host: ${new URL(api.url).host}`,
      `Authorization: Bearer ${api.key}`,
      `Content-Type: ${headers["Content-Type"]}`,
      `Content-Length: ${body.length}`,
    ];
    const socket = connect(Number(new URL(api.url).port), "127.0.0.1");
    socket.write(Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`), body]), () => socket.destroy());
    await server.says(/"task":"task_/);
    const [left] = await taskIds(api);
    const again = await api.send("/compat/v1/images/edits", { headers, body });
    expect([again.status, taskOf(again), await taskIds(api)]).toEqual([200, left ?? "", [left]]);
  });

  test.concurrent("joins it when the client left in the middle of the answer", async () => {
    // Nobody else waits for its pictures.
    const { api } = await start();
    // More than the connection holds on its way.
    const large = { model: "sandbox-image", prompt: "x", n: 10, size: "2048x2048" };
    const gone = new AbortController();
    const response = await fetch(api.url + GENERATIONS, {
      method: "POST",
      headers: { Authorization: `Bearer ${api.key}`, "Content-Type": "application/json" },
      body: JSON.stringify(large),
      signal: gone.signal,
    });
    const reader = response.body?.getReader();
    await reader?.read();
    gone.abort();
    await reader?.read().catch(() => undefined);
    const again = await generate(api, large);
    expect([again.status, await taskIds(api)]).toEqual([200, [taskOf(again)]]);
    // Large pictures, drawn at a low priority.
  }, 240_000);

  test.concurrent("holds none of its files while it waits", async () => {
    const { server, api } = await start();
    const fields = { model: "sandbox-image", prompt: "x", sandbox: '{"outcome":"hang"}' };
    const form = await formOf(fields, [["image", await noisePng(64, 64)]]);
    const edit = { ...form, headers: { ...form.headers, Prefer: "wait=1" } };
    expect((await api.send("/compat/v1/images/edits", edit)).status).toBe(504);
    const joined = api.send("/compat/v1/images/edits", {
      ...edit,
      headers: { ...edit.headers, Prefer: "wait=3" },
    });
    await server.says(/"path":"\/compat\/v1\/images\/edits"/);
    await Bun.sleep(1_000);
    expect(readdirSync(join(server.dataDir, "assets", "tmp"))).toEqual([]);
    expect((await joined).status).toBe(504);
  });

  test.concurrent("joins it after the server was killed in between", async () => {
    const started = await start();
    const { server, api } = started;
    const left = await abandon(started, SLOW);
    server.signal("SIGKILL");
    await server.exited;
    const next = spawnServer({ folder: server.folder, dataDir: server.dataDir });
    await next.ready();
    const again = createApi(next.url, api.key);
    const answer = await generate(again, SLOW);
    expect([answer.status, taskOf(answer)]).toEqual([200, left]);
    expect(await taskIds(again)).toEqual([left]);
  });
});

describe("identical requests that are both waited for", () => {
  test.concurrent("are separate tasks", async () => {
    const { api } = await arrive();
    const answers = await Promise.all(Array.from({ length: 4 }, () => generate(api, SLOW)));
    expect(new Set(answers.map(taskOf)).size).toBe(4);
  });

  test.concurrent("are one task under one Idempotency-Key, and another body is a conflict", async () => {
    const { api } = await arrive();
    const key = { "Idempotency-Key": "once" };
    const first = await generate(api, SLOW, key);
    const again = await generate(api, SLOW, key);
    expect([first.status, again.status, taskOf(again)]).toEqual([200, 200, taskOf(first)]);
    expect(again.headers.get("x-idempotent-replay")).toBe("true");
    const other = await generate(api, { ...SLOW, prompt: "y" }, key);
    expect([other.status, other.body.error?.code, other.headers.get("x-should-retry")]).toEqual([
      409,
      "idempotency_conflict",
      "false",
    ]);
  });
});

describe("an Idempotency-Key whose task failed", () => {
  test.concurrent("is free again, for the same request and for a better one", async () => {
    const { api } = await arrive();
    const key = { "Idempotency-Key": "second chance" };
    const failing = { ...SLOW, sandbox: { delay_ms: 0, outcome: "failed" } };
    const first = await generate(api, failing, key);
    const again = await generate(api, failing, key);
    expect([first.status, again.status]).toEqual([500, 500]);
    expect(taskOf(again)).not.toBe(taskOf(first));
    const better = await generate(api, { ...SLOW, sandbox: { delay_ms: 0 } }, key);
    expect([better.status, better.headers.get("x-idempotent-replay")]).toEqual([200, null]);
  });
});

test.concurrent("a stopping server tells a waiting call that its task goes on, and the call is worth another try", async () => {
  const { server, api } = await start();
  const waiting = generate(api, HANGING);
  await untilTasks(api, ({ length }) => length === 1);
  server.signal("SIGTERM");
  const left = await waiting;
  expect([left.status, left.body.error?.code]).toEqual([503, "service_unavailable"]);
  expect([left.headers.get("x-should-retry"), left.headers.get("retry-after")]).toEqual(["true", "2"]);
  expect(left.body.error?.message).toContain(taskOf(left));
  expect(await server.exited).toBe(0);
});
