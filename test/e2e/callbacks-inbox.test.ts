import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { JsonObject } from "../../src/domain/json.ts";
import { type Server, startServer, stopServers } from "../helpers/server.ts";
import { type Api, createApi } from "./support/api.ts";
import { prepaidKey } from "./support/command.ts";
import { ALLOW_LOOPBACK } from "./support/slow-source.ts";

setDefaultTimeout(120_000);

const IMAGE = { model: "sandbox-image", prompt: "x", size: "16x16", sandbox: { delay_ms: 0 } };
const SHORT_DELAYS = ["--callbacks-delays-seconds", "0.05,0.05,0.05,0.05"] as const;
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

interface WireSend {
  readonly sequence: number;
  readonly kind: string;
  readonly outcome: string | null;
  readonly status: number | null;
  readonly address: string | null;
  readonly answer: string | null;
  readonly error: string | null;
}

interface WireCallback {
  readonly id: string;
  readonly task_id: string;
  readonly state: string;
  readonly attempts: number;
  readonly redelivery_due: boolean;
  readonly payload?: JsonObject;
  readonly history?: readonly WireSend[];
}

/** Where callbacks arrive; it can be told to refuse them. */
function openReceiver() {
  const posts: { readonly headers: Headers; readonly body: string }[] = [];
  let waiting: (() => void)[] = [];
  const state = { isDown: false };
  const receiver = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      posts.push({ headers: request.headers, body: await request.text() });
      for (const resolve of waiting.splice(0)) resolve();
      return state.isDown
        ? new Response("out for lunch", { status: 503 })
        : new Response(null, { status: 204 });
    },
  });
  return {
    url: `http://127.0.0.1:${receiver.port}/hook`,
    posts,
    state,
    async received(count: number) {
      while (posts.length < count) await new Promise<void>((resolve) => waiting.push(resolve));
    },
    stop() {
      waiting = [];
      return receiver.stop(true);
    },
  };
}

let server: Server;
let api: Api;
let other: Api;
let receiver: ReturnType<typeof openReceiver>;

beforeAll(async () => {
  server = await startServer({ args: [...ALLOW_LOOPBACK, ...SHORT_DELAYS] });
  api = createApi(server.url, server.firstKey());
  other = createApi(server.url, await prepaidKey(server.dataDir, "other", "5.00"));
  receiver = openReceiver();
});

afterAll(async () => {
  await receiver.stop();
  await stopServers();
});

async function list(
  query = "",
  from = api,
): Promise<{ callbacks: readonly WireCallback[]; next: string | null }> {
  const { status, text, data } = await from.send(`/v1/callbacks${query}`);
  if (status !== 200) throw new Error(`No list: ${status} ${text}`);
  // The answer was compared with the document.
  return data as unknown as { callbacks: readonly WireCallback[]; next: string | null };
}

/** The callback of a task, once `isSo` of it. */
async function callbackOf(taskId: string, isSo: (callback: WireCallback) => boolean): Promise<WireCallback> {
  for (let tries = 0; tries < 1_000; tries++) {
    const [found] = (await list(`?task_id=${taskId}`)).callbacks;
    if (found !== undefined && isSo(found)) return read(found.id);
    await Bun.sleep(5);
  }
  throw new Error(`The callback of ${taskId} is not as it should be: ${JSON.stringify(await list())}`);
}

async function read(id: string): Promise<WireCallback> {
  const { status, text, data } = await api.send(`/v1/callbacks/${id}`);
  if (status !== 200) throw new Error(`No callback: ${status} ${text}`);
  return data as unknown as WireCallback;
}

const isState = (state: string) => (callback: WireCallback) =>
  callback.state === state && !callback.redelivery_due;

describe("the inbox", () => {
  test("has the account's callbacks, newest first, in pages, and nobody else's", async () => {
    const tasks: string[] = [];
    for (let i = 0; i < 5; i++)
      tasks.push((await api.make({ ...IMAGE, callback_url: receiver.url })).task_id);
    await api.make(IMAGE);
    const foreign = (await other.make({ ...IMAGE, callback_url: receiver.url })).task_id;
    for (const id of tasks) await callbackOf(id, isState("delivered"));
    const whole = await list();
    expect(whole.callbacks.map((each) => each.task_id)).toEqual(tasks.toReversed());
    const pages: string[] = [];
    for (let after: string | null = ""; after !== null; ) {
      const page: Awaited<ReturnType<typeof list>> = await list(`?limit=2${after && `&after=${after}`}`);
      pages.push(...page.callbacks.map((each) => each.task_id));
      after = page.next;
    }
    expect(pages).toEqual(tasks.toReversed());
    expect((await list("", other)).callbacks.map((each) => each.task_id)).toEqual([foreign]);
    expect((await list(`?task_id=${foreign}`)).callbacks).toEqual([]);
  });

  test("is narrowed by state and time", async () => {
    expect((await list("?state=pending")).callbacks).toEqual([]);
    expect((await list("?state=delivered")).callbacks).toHaveLength(5);
    expect((await list("?from=2020-01-01&to=2020-01-02")).callbacks).toEqual([]);
    expect((await list(`?from=${Math.floor(Date.now() / 1000) - 3_600}`)).callbacks).toHaveLength(5);
  });

  test("tells no account what another one has", async () => {
    const [foreign] = (await list("", other)).callbacks;
    const unknown = "cb_01jd0000000000000000000000";
    const answers = [];
    for (const id of [foreign?.id ?? "", unknown, "nonsense"]) {
      for (const sent of [
        { path: `/v1/callbacks/${id}` },
        { path: `/v1/callbacks/${id}/redeliver`, method: "POST" },
      ]) {
        const { status, body } = await api.send(sent.path, sent);
        answers.push([status, JSON.stringify(body)]);
      }
    }
    expect(new Set(answers.map(String)).size).toBe(1);
    expect(answers[0]?.[0]).toBe(404);
    const cursors = [];
    for (const id of [foreign?.id ?? "", unknown]) {
      const { status, text } = await api.send(`/v1/callbacks?after=${id}`);
      cursors.push([status, text.replaceAll(id, "ID")]);
    }
    expect(cursors[0]).toEqual(cursors[1] ?? []);
    expect(cursors[0]?.[0]).toBe(400);
    const body = { task_id: foreign?.task_id ?? "" };
    expect((await api.send("/v1/callbacks/redeliver", { body })).data).toMatchObject({
      callbacks: [],
      next: null,
    });
  });
});

describe("a receiver that was down", () => {
  test("finds each send in the history, and gets what it missed when it is back", async () => {
    receiver.state.isDown = true;
    const before = receiver.posts.length;
    const { task_id } = await api.make({ ...IMAGE, callback_url: receiver.url });
    const failed = await callbackOf(task_id, isState("failed"));
    expect(failed).toMatchObject({ attempts: 5, max_attempts: 5, next_attempt_at: null });
    expect(failed.history).toEqual(
      [1, 2, 3, 4, 5].map((sequence) => ({
        sequence,
        kind: "attempt",
        started_at: expect.stringMatching(ISO),
        ended_at: expect.stringMatching(ISO),
        duration_ms: expect.any(Number),
        outcome: "refused",
        status: 503,
        address: "127.0.0.1",
        answer: "out for lunch",
        error: null,
      })),
    );
    await receiver.received(before + 5);
    receiver.state.isDown = false;
    const asked = await api.send(`/v1/callbacks/${failed.id}/redeliver`, { method: "POST" });
    expect(asked.data).toMatchObject({ id: failed.id, state: "failed", redelivery_due: true, attempts: 5 });
    const delivered = await callbackOf(task_id, isState("delivered"));
    expect(delivered.attempts).toBe(5);
    expect(delivered.history?.slice(5)).toMatchObject([
      { sequence: 6, kind: "redelivery", outcome: "delivered", status: 204 },
    ]);
    const posts = receiver.posts.slice(before);
    expect(posts).toHaveLength(6);
    for (const { body } of posts) expect(JSON.parse(body)).toEqual(delivered.payload);
  });

  test("gets all that failed in a range of time by one call", async () => {
    receiver.state.isDown = true;
    const from = new Date().toISOString();
    const tasks: string[] = [];
    for (let i = 0; i < 3; i++)
      tasks.push((await api.make({ ...IMAGE, callback_url: receiver.url })).task_id);
    for (const id of tasks) await callbackOf(id, isState("failed"));
    receiver.state.isDown = false;
    const good = (await api.make({ ...IMAGE, callback_url: receiver.url })).task_id;
    await callbackOf(good, isState("delivered"));
    const { data } = await api.send("/v1/callbacks/redeliver", { body: { from, state: "failed" } });
    expect((data as unknown as { callbacks: WireCallback[] }).callbacks.map((each) => each.task_id)).toEqual(
      tasks.toReversed(),
    );
    for (const id of tasks) expect((await callbackOf(id, isState("delivered"))).history).toHaveLength(6);
    expect((await callbackOf(good, isState("delivered"))).history).toHaveLength(1);
  });

  test("gets one more of a callback that it had, by the task's id, as often as it asks", async () => {
    const { task_id } = await api.make({ ...IMAGE, callback_url: receiver.url });
    await callbackOf(task_id, isState("delivered"));
    for (const sends of [2, 3]) {
      const { data } = await api.send("/v1/callbacks/redeliver", { body: { task_id } });
      expect(data).toMatchObject({ callbacks: [{ task_id, state: "delivered", redelivery_due: true }] });
      expect((await callbackOf(task_id, (each) => !each.redelivery_due)).history).toHaveLength(sends);
    }
  });
});

test.each<[JsonObject | string, string | undefined]>([
  [{}, "from"],
  [{ from: 0, task_id: "task_01jd0000000000000000000000" }, "task_id"],
  [{ to: 10 }, "from"],
  [{ from: "yesterday" }, "from"],
  [{ from: 10, to: 9 }, "to"],
  [{ from: 0, state: "dead" }, "state"],
  [{ from: 0, limit: 5 }, "limit"],
  [{ from: [0] }, "from"],
  ["[]", undefined],
  ["", undefined],
])("a redelivery of %p is refused", async (body, param) => {
  const { status, data } = await api.send("/v1/callbacks/redeliver", { body });
  expect([status, data.error_code, data.param]).toEqual([400, "invalid_request", param]);
});
