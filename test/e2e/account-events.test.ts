import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { Webhook } from "standardwebhooks";
import { type Server, startServer, stopServers } from "../helpers/server.ts";
import { type Api, createApi } from "./support/api.ts";
import { arranged, keyIn, prepaidKey, svcJson } from "./support/command.ts";
import { type EventStream, openEvents } from "./support/event-stream.ts";
import { ALLOW_LOOPBACK } from "./support/slow-source.ts";

setDefaultTimeout(120_000);

const IMAGE = { model: "sandbox-image", prompt: "x", size: "16x16", sandbox: { delay_ms: 0 } };

let server: Server;
let api: Api;
let other: Api;

beforeAll(async () => {
  server = await startServer({ args: ALLOW_LOOPBACK });
  api = createApi(server.url, server.firstKey());
  other = createApi(server.url, await prepaidKey(server.dataDir, "other", "5.00"));
});

afterAll(stopServers);

/** The states of tasks, up to the one that ends `last`. */
async function statesUntil(stream: EventStream, last: string): Promise<{ id: string; state: string }[]> {
  const states = [];
  for (;;) {
    const { name, data } = await stream.next();
    const task = JSON.parse(data);
    expect(task.status).toBe(name);
    states.push({ id: task.task_id, state: name });
    if (task.task_id === last && name === "completed") return states;
  }
}

/** Everything a stream still tells until it ends by itself. */
async function untilItEnds(stream: EventStream): Promise<string> {
  let told = "";
  for (;;) {
    const event = await stream.next().catch((error: Error) => error);
    if (event instanceof Error) {
      expect(event.message).toBe("The stream has ended.");
      return told;
    }
    told += event.data;
  }
}

describe("the events of an account", () => {
  test("tell of each of its tasks from now on, as the list has them, and of nobody else's", async () => {
    await api.make(IMAGE);
    const stream = await openEvents(api, "/v1/events");
    const foreign = await other.make(IMAGE);
    const { task_id: mine } = await api.make(IMAGE);
    const states = await statesUntil(stream, mine);
    expect(new Set(states.map(({ id }) => id))).toEqual(new Set([mine]));
    stream.cut();
    const again = await openEvents(api, "/v1/events", "0");
    let event = await again.next();
    while (!event.data.includes(mine)) event = await again.next();
    const { data } = await api.send("/v1/tasks?limit=1");
    expect(JSON.parse(event.data)).toEqual(data.tasks?.[0]);
    again.cut();
    const theirs = await openEvents(other, "/v1/events", "0");
    expect(JSON.parse((await theirs.next()).data).task_id).toBe(foreign.task_id);
    theirs.cut();
  });

  test("tell of the tasks of synchronous calls too", async () => {
    const stream = await openEvents(api, "/v1/events");
    const sync = await api.send("/compat/v1/images/generations", {
      body: { ...IMAGE, response_format: "url" },
    });
    expect(sync.status).toBe(200);
    const { data } = await api.send("/v1/tasks?limit=1");
    await statesUntil(stream, data.tasks?.[0]?.task_id ?? "");
    stream.cut();
  });

  test("are told to who comes back without having had one", async () => {
    const stream = await openEvents(api, "/v1/events");
    // Where the stream stands is told before the first event; the task that follows is what it is read by.
    const first = await api.make(IMAGE);
    const { id } = await stream.next();
    stream.cut();
    const start = stream.lastId() === id ? undefined : stream.lastId();
    expect(start).toMatch(/^\d+$/);
    const again = await openEvents(api, "/v1/events", start ?? "");
    await statesUntil(again, first.task_id);
    again.cut();
  });

  test("end for a key that is revoked: nothing that happens after that is told", async () => {
    const folder = ["--data-dir", server.dataDir];
    const key = keyIn(await arranged(["keys", "create", "--name", "leaver", ...folder]));
    const revoked = createApi(server.url, key);
    const streams = await Promise.all(
      ["/v1/events", "/v1/callbacks/events"].map((path) => openEvents(revoked, path)),
    );
    const running = await revoked.accept({ ...IMAGE, sandbox: { delay_ms: 4_000 } });
    await streams[0]!.next();
    streams.push(await openEvents(revoked, `/v1/tasks/${running}/events`));
    await streams[2]!.next();
    await svcJson(["keys", "revoke", "leaver", "--yes", ...folder]);
    for (let tries = 0; tries < 200; tries++) {
      if ((await revoked.send("/v1/tasks")).status === 401) break;
      await Bun.sleep(10);
    }
    for (const stream of streams) expect(await untilItEnds(stream)).not.toContain("completed");
  });

  test.each(["x", "-1", "1.5", "1e3"])("after %s are refused", async (id) => {
    for (const path of ["/v1/events", "/v1/callbacks/events"]) {
      const answer = await api.send(path, { headers: { "Last-Event-ID": id } });
      expect([answer.status, answer.data.param]).toEqual([400, "Last-Event-ID"]);
    }
  });

  test("are for those with a key alone", async () => {
    for (const path of ["/v1/events", "/v1/callbacks/events"]) {
      const answer = await api.send(path, { headers: { Authorization: "" } });
      expect(answer.status).toBe(401);
    }
  });

  test("end with the service", async () => {
    const own = await startServer();
    const client = createApi(own.url, own.firstKey());
    const streams = await Promise.all(
      ["/v1/events", "/v1/callbacks/events"].map((path) => openEvents(client, path)),
    );
    const ends = streams.map((stream) => stream.next().catch(({ message }) => message));
    own.signal("SIGTERM");
    expect(await Promise.all(ends)).toEqual(["The stream has ended.", "The stream has ended."]);
    expect(await own.exited).toBe(0);
  });
});

test("who comes back after each cut, and after the server was killed, has missed nothing and heard nothing twice", async () => {
  const tasks = 50;
  const cuts = 10;
  let own = await startServer();
  const { folder, port } = own;
  const client = createApi(own.url, own.firstKey());
  const last = new Map<string, string>();
  const numbers: number[] = [];
  let lastId = "0";
  let stream = await openEvents(client, "/v1/events", lastId);

  const created = (async () => {
    const ids: string[] = [];
    for (let i = 0; i < tasks; i++) {
      const body = { ...IMAGE, sandbox: { delay_ms: Math.floor(Math.random() * 60) } };
      // Killed while it is sent: the same key makes it the same task.
      for (let id: string | undefined; id === undefined; ) {
        id = await client.accept(body, { "Idempotency-Key": `task-${i}` }).catch(() => undefined);
        if (id === undefined) await Bun.sleep(20);
        else ids.push(id);
      }
    }
    return ids;
  })();

  async function take(count: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      const event = await stream.next();
      const { task_id } = JSON.parse(event.data);
      numbers.push(Number(event.id));
      lastId = event.id ?? lastId;
      last.set(task_id, event.name);
    }
  }
  for (let cut = 0; cut < cuts; cut++) {
    await take(1 + Math.floor(Math.random() * 6));
    stream.cut();
    if (cut === cuts / 2) {
      own.signal("SIGKILL");
      await own.exited;
      own = await startServer({ folder, port });
    }
    stream = await openEvents(client, "/v1/events", lastId);
  }
  const isOver = () => [...last.values()].filter((state) => state === "completed").length === tasks;
  while (!isOver()) await take(1);
  stream.cut();
  const ids = await created;
  expect(new Set(last.keys())).toEqual(new Set(ids));
  expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
}, 60_000);

describe("what is posted", () => {
  test("is told as a receiver has it, for each task of the key, whether or not it has one", async () => {
    const arrived = Promise.withResolvers<{ headers: Record<string, string>; body: string }>();
    const receiver = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      async fetch(request) {
        arrived.resolve({ headers: Object.fromEntries(request.headers), body: await request.text() });
        return new Response(null, { status: 204 });
      },
    });
    const url = `http://127.0.0.1:${receiver.port}/hook?token=7`;
    const stream = await openEvents(api, "/v1/callbacks/events");
    const called = await api.make({ ...IMAGE, callback_url: url });
    const told = JSON.parse((await stream.next()).data);
    expect([told.task_id, told.url]).toEqual([called.task_id, url]);
    const post = await arrived.promise;
    expect(told.body).toBe(post.body);
    const lower = Object.entries<string>(told.headers).map(([name, value]) => [name.toLowerCase(), value]);
    expect(post.headers).toMatchObject(Object.fromEntries(lower));
    const uncalled = await api.make({ ...IMAGE, sandbox: { delay_ms: 0, outcome: "failed" } });
    const second = await stream.next();
    expect(JSON.parse(second.data)).toMatchObject({
      task_id: uncalled.task_id,
      callback_id: null,
      url: null,
    });

    const path = `/v1/callbacks/${told.callback_id}/redeliver`;
    expect((await api.send(path, { method: "POST" })).status).toBe(200);
    const again = await stream.next();
    expect([again.id, JSON.parse(again.data).body]).toEqual([undefined, told.body]);
    stream.cut();

    await api.make(IMAGE);
    const resumed = await openEvents(api, "/v1/callbacks/events", second.id);
    expect(JSON.parse((await resumed.next()).data).task_id).not.toBe(uncalled.task_id);
    resumed.cut();
    await receiver.stop(true);
  });

  test("is signed as a delivery is, for a key that signs, whether or not the task has an address to call", async () => {
    const args = [
      "keys",
      "create",
      "--name",
      "signing",
      "--callback-secret",
      "new",
      "--data-dir",
      server.dataDir,
    ];
    const printed = JSON.stringify(await svcJson(args));
    const webhook = new Webhook(/whsec_[A-Za-z0-9+/=]+/.exec(printed)?.[0] ?? "");
    const signing = createApi(server.url, keyIn(printed));
    const stream = await openEvents(signing, "/v1/callbacks/events");
    const { task_id } = await signing.make(IMAGE);
    const { headers, body } = JSON.parse((await stream.next()).data);
    stream.cut();
    expect(webhook.verify(body, headers)).toEqual(JSON.parse(body));
    expect(headers["webhook-id"]).toBe(task_id);
    expect(() => webhook.verify(`${body} `, headers)).toThrow();
  });
});
