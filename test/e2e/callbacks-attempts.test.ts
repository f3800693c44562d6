import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { type Server, startServer, stopServers } from "../helpers/server.ts";
import { type Api, createApi } from "./support/api.ts";
import { readDatabase } from "./support/database.ts";
import { openReceiver, type Receiver, type ReceiverOptions } from "./support/receivers.ts";
import { ALLOW_LOOPBACK } from "./support/slow-source.ts";

setDefaultTimeout(120_000);

const IMAGE = { model: "sandbox-image", prompt: "x", size: "16x16", sandbox: { delay_ms: 0 } };
const DELAYS = ["--callbacks-delays-seconds", "0.05,0.05,0.05,0.05"] as const;
const SERVE = [...ALLOW_LOOPBACK, ...DELAYS] as const;
const SETTLED_WITHIN_MS = 30_000;

const receivers: Receiver[] = [];
afterEach(async () => {
  for (const receiver of receivers.splice(0)) await receiver.stop();
  await stopServers();
});

function receive(options: ReceiverOptions = {}): Receiver {
  const receiver = openReceiver(options);
  receivers.push(receiver);
  return receiver;
}

async function start(args: readonly string[] = SERVE): Promise<{ server: Server; api: Api }> {
  const server = await startServer({ args });
  return { server, api: createApi(server.url, server.firstKey()) };
}

function restart({ folder, port }: Server, args: readonly string[] = SERVE): Promise<Server> {
  return startServer({ folder, port, args });
}

interface Stored {
  readonly state: string;
  readonly attempts: number;
  /** How each send went. */
  readonly outcomes: readonly (string | null)[];
}

function stored({ dataDir }: Server, taskId: string): Stored {
  const rows = readDatabase<{ state: string; attempts: number; sequence: number; outcome: string | null }>(
    dataDir,
    `SELECT state, attempts, sequence, outcome FROM callback LEFT JOIN callback_attempt ON callback_id = id
     WHERE task_id = '${taskId}' ORDER BY sequence`,
  );
  const [first] = rows;
  if (first === undefined) throw new Error(`${taskId} has no callback.`);
  const { state, attempts } = first;
  return { state, attempts, outcomes: rows.map(({ outcome }) => outcome) };
}

/** As it is stored once it is over. */
async function settled(server: Server, taskId: string): Promise<Stored> {
  const deadline = performance.now() + SETTLED_WITHIN_MS;
  while (stored(server, taskId).state === "pending" && performance.now() < deadline) await Bun.sleep(5);
  return stored(server, taskId);
}

const answers = (status: number, count: number, headers: Record<string, string> = {}) =>
  Array.from({ length: count }, () => new Response("not now", { status, headers }));

describe("a callback's attempts", () => {
  test("end with the one that is accepted: after four refusals the fifth, each about the same task", async () => {
    const { server, api } = await start();
    const receiver = receive({ answers: answers(503, 4) });
    const { task_id } = await api.make({ ...IMAGE, callback_url: receiver.url });
    expect(await settled(server, task_id)).toEqual({
      state: "delivered",
      attempts: 5,
      outcomes: ["refused", "refused", "refused", "refused", "delivered"],
    });
    expect(receiver.posts).toHaveLength(5);
    const [first] = receiver.posts;
    expect(first?.body).toMatchObject({ task_id, request_id: expect.stringMatching(/^req_/) });
    for (const { body } of receiver.posts) expect(body).toEqual(first?.body ?? {});
  });

  test("are five where none is accepted, and leave the task as it was", async () => {
    const { server, api } = await start();
    const receiver = receive({ answers: answers(500, 9), isHeld: true });
    const id = await api.accept({ ...IMAGE, callback_url: receiver.url });
    const before = await api.wait(id);
    expect(before.status).toBe("completed");
    receiver.release();
    const outcomes = Array.from({ length: 5 }, () => "refused");
    expect(await settled(server, id)).toEqual({ state: "failed", attempts: 5, outcomes });
    expect(await api.wait(id)).toEqual(before);
    // Whatever would still come would have come by now: the longest pause is a twentieth of a second.
    await Bun.sleep(300);
    expect(receiver.posts).toHaveLength(5);
  });

  test("wait as long as the receiver asks for", async () => {
    const { server, api } = await start();
    const receiver = receive({ answers: answers(429, 1, { "Retry-After": "1" }) });
    const { task_id } = await api.make({ ...IMAGE, callback_url: receiver.url });
    expect(await settled(server, task_id)).toMatchObject({ state: "delivered", attempts: 2 });
    const [first, second] = receiver.posts.map(({ at }) => at);
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(990);
  });

  test("end at once where the address may not be called any more", async () => {
    const { server, api } = await start();
    const receiver = receive();
    const sandbox = { delay_ms: 1_500 };
    const id = await api.accept({ ...IMAGE, callback_url: receiver.url, sandbox });
    await server.stop();
    const next = await restart(server, DELAYS);
    expect((await createApi(next.url, next.firstKey()).wait(id)).status).toBe("completed");
    expect(await settled(next, id)).toEqual({ state: "failed", attempts: 1, outcomes: ["forbidden"] });
    expect(receiver.posts).toEqual([]);
  });
});

describe("a send that is under way", () => {
  async function startSend() {
    const { server, api } = await start();
    const receiver = receive({ isHeld: true });
    const id = await api.accept({ ...IMAGE, callback_url: receiver.url });
    await receiver.received(1);
    return { server, receiver, id };
  }

  test("at SIGTERM is let end, and is recorded", async () => {
    const { server, receiver, id } = await startSend();
    server.signal("SIGTERM");
    await server.says(/"stopping"/);
    // Time enough for an exit that would not wait.
    await Bun.sleep(500);
    expect(server.hasExited()).toBe(false);
    receiver.release();
    expect(await server.exited).toBe(0);
    expect(stored(server, id)).toEqual({ state: "delivered", attempts: 1, outcomes: ["delivered"] });
    expect(receiver.posts).toHaveLength(1);
  });

  test.each([["a second SIGTERM", "SIGTERM"] as const, ["SIGKILL", "SIGKILL"] as const])(
    "at %s is cut off, counted, and tried again by the next process",
    async (_, signal) => {
      const { server, receiver, id } = await startSend();
      server.signal("SIGTERM");
      await server.says(/"stopping"/);
      server.signal(signal);
      await server.exited;
      expect(stored(server, id)).toMatchObject({ state: "pending", attempts: 1 });
      receiver.release();
      const next = await restart(server);
      expect(await settled(next, id)).toEqual({
        state: "delivered",
        attempts: 2,
        outcomes: ["interrupted", "delivered"],
      });
      expect(receiver.posts).toHaveLength(2);
      expect(receiver.posts[1]?.body).toEqual(receiver.posts[0]?.body ?? {});
    },
  );
});
