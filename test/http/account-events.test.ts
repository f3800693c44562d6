import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Socket } from "bun";
import { taskError } from "../../src/domain/errors.ts";
import type { Log } from "../../src/domain/ports/runtime.ts";
import { failed } from "../../src/domain/task/transition.ts";
import { eventEndpoints } from "../../src/http/events/routes.ts";
import type { KeyedExchange } from "../../src/http/exchange.ts";
import { type EventWriter, eventStream } from "../../src/http/sse.ts";
import { createSystemClock } from "../../src/runtime/clock.ts";
import { createSecrets } from "../../src/runtime/secrets.ts";
import { createFeeds } from "../../src/runtime/signals.ts";
import type { Store } from "../../src/store/open.ts";
import { openEmptyStore } from "../helpers/open-store.ts";
import { PRINCIPAL } from "../helpers/principal.ts";
import { ACCOUNT, addAccount, admit, callbackId, claimQuery, NOW, taskId } from "../helpers/store.ts";

const quiet: Log = { debug() {}, info() {}, warn() {}, error() {} };
/** As a server has it, only shorter. */
const IDLE_SEC = 1;
/** For a reader that is slow only because this process has much to do. */
const PATIENT_SEC = 60;

/** The endpoints over a store of their own, behind a server that cuts silent connections, as the service's own does. */
async function serve() {
  const store = openEmptyStore();
  await addAccount(store, { id: ACCOUNT });
  const { callbacks, accounts } = store;
  const feeds = createFeeds();
  const gone: Promise<void>[] = [];
  let queries = 0;
  const tasks: Store["tasks"] = {
    ...store.tasks,
    changes(query) {
      queries += 1;
      return store.tasks.changes(query);
    },
  };
  const endpoints = eventEndpoints({
    ...{ ...feeds, tasks, callbacks, accounts, forms: () => undefined, log: quiet },
    ...{ clock: createSystemClock(), secrets: createSecrets(), stopping: new AbortController().signal },
  });
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: IDLE_SEC,
    async fetch(request, server) {
      if (gone.length > 0) server.timeout(request, PATIENT_SEC);
      const endpoint = endpoints.find(({ path }) => path === new URL(request.url).pathname);
      if (endpoint?.access !== "api_key") return new Response(null, { status: 404 });
      gone.push(new Promise((resolve) => request.signal.addEventListener("abort", () => resolve())));
      // What these endpoints look at.
      const exchange = { request, requestId: "req_1", principal: PRINCIPAL, origin: "http://svc" };
      const { status, headers, body } = await endpoint.handle(exchange as KeyedExchange);
      return new Response(body, { status, headers });
    },
  });
  return {
    ...{ store, feeds, gone },
    // Set for a server on TCP.
    port: server.port as number,
    /** How often a page of changes was read. */
    queries: () => queries,
    async [Symbol.asyncDispose]() {
      await server.stop(true);
      await store.stop();
    },
  };
}

type Served = Awaited<ReturnType<typeof serve>>;

/** A client that sends its request and then reads nothing. */
function connectAndStop(port: number, path: string): Promise<Socket> {
  return Bun.connect({
    hostname: "127.0.0.1",
    port,
    socket: {
      open(socket) {
        socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nLast-Event-ID: 0\r\n\r\n`);
        socket.pause();
      },
      data() {},
    },
  });
}

const TASKS = 2_000;
/** So that all of them are more than the two ends of a connection hold in the kernel. */
const MESSAGE = "x".repeat(10_000);

/** Thousands of tasks that failed with much to say. */
async function failThousands({ store, feeds }: Served): Promise<void> {
  await Promise.all(Array.from({ length: TASKS }, (_, i) => admit(store, { number: i + 1 })));
  const { leases } = await store.tasks.claim(claimQuery({ limit: TASKS, capacity: TASKS, lanes: [ROOM] }));
  await Promise.all(
    leases.map((lease) => {
      const number = Number(lease.task.id.slice(-6));
      const error = taskError("UPSTREAM_ERROR", MESSAGE);
      return store.tasks.apply(lease, failed(lease.task, NOW, error, callbackId(number)));
    }),
  );
  feeds.feed.publish({ id: taskId(1), accountId: ACCOUNT }, true);
}
const ROOM = { ...claimQuery().lanes[0]!, capacity: TASKS };

/** Reads a stream until so many events were there. @returns how many there were */
async function readEvents(url: string, wanted: number): Promise<number> {
  const leaving = new AbortController();
  const response = await fetch(url, {
    headers: { "Last-Event-ID": "0" },
    keepalive: false,
    signal: leaving.signal,
  });
  const decoder = new TextDecoder();
  let tail = "";
  let count = 0;
  for await (const chunk of response.body ?? []) {
    const blocks = (tail + decoder.decode(chunk, { stream: true })).split("\n\n");
    tail = blocks.pop() ?? "";
    count += blocks.filter((block) => block.includes("\ndata: ")).length;
    if (count >= wanted) break;
  }
  leaving.abort();
  return count;
}

const urlOf = ({ port }: Served, path: string) => `http://127.0.0.1:${port}${path}`;

const PATHS = ["/v1/events", "/v1/callbacks/events"];
const filled = new Map<string, Served>();

// Before any client is there: this is much work at once, and the limit on silence goes on meanwhile.
beforeAll(async () => {
  for (const path of PATHS) {
    const served = await serve();
    filled.set(path, served);
    await failThousands(served);
  }
}, 30_000);
afterAll(async () => {
  for (const served of filled.values()) await served[Symbol.asyncDispose]();
});

describe.each(PATHS)("a client of %s that stops reading", (path) => {
  test.concurrent("holds little, is cut off by the server's limit on silence, and keeps nobody else waiting", async () => {
    const served = filled.get(path)!;
    const { queries, gone } = served;
    const slow = await connectAndStop(served.port, path);
    // Until the connection is full.
    for (let seen = -1; seen !== queries() || seen === 0; await Bun.sleep(100)) seen = queries();
    const pages = TASKS / (path === "/v1/events" ? 100 : 20);
    expect(queries()).toBeLessThan(pages * 0.8);
    const [slowIsGone] = gone;
    expect(await readEvents(urlOf(served, path), TASKS)).toBe(TASKS);
    await slowIsGone;
    slow.terminate();
    expect(queries()).toBeLessThanOrEqual(pages * 1.8);
  }, 30_000);
});

test.concurrent("a client of any stream that stops reading holds little, and the server's limit on silence drops it", async () => {
  const dropped = Promise.withResolvers<void>();
  let written = 0;
  const write = async (events: EventWriter, signal: AbortSignal) => {
    signal.addEventListener("abort", () => dropped.resolve());
    const data = "x".repeat(16_384);
    while (!signal.aborted) {
      await events.event({ name: "tick", data });
      written += 1;
    }
  };
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: IDLE_SEC,
    fetch: ({ signal }) =>
      new Response(eventStream({ clock: createSystemClock(), signal, write, onError() {} })),
  });
  // Set for a server on TCP.
  const client = await connectAndStop(server.port as number, "/");
  await dropped.promise;
  // What the two ends of the connection hold in the kernel, and no more.
  expect(written * 16_384).toBeLessThan(32 * 1024 * 1024);
  client.terminate();
  await server.stop(true);
}, 15_000);

test("a stream begins with where it stands, without an event, so that a client can come back to it", async () => {
  await using served = await serve();
  await admit(served.store);
  const response = await fetch(urlOf(served, "/v1/events"), { keepalive: false });
  const reader = response.body!.getReader();
  let text = "";
  while (!text.includes("id: ")) text += new TextDecoder().decode((await reader.read()).value);
  const number = await served.store.tasks.latestChange(ACCOUNT);
  expect(text).toBe(`retry: 3000\n\n: from ${number}\nid: ${number}\n\n`);
  await reader.cancel();
});
