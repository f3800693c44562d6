import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { type Server, startServer, stopServers } from "../helpers/server.ts";
import { type Api, createApi } from "./support/api.ts";
import { svc } from "./support/command.ts";
import { readDatabase } from "./support/database.ts";
import { openReceiver, type Receiver } from "./support/receivers.ts";
import { canSetClocks, openClock, type SettableClock } from "./support/settable-clock.ts";
import { ALLOW_LOOPBACK } from "./support/slow-source.ts";

setDefaultTimeout(120_000);

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const QUICK = { model: "sandbox-image", prompt: "x", size: "16x16", sandbox: { delay_ms: 0 } };
const NOTICED_WITHIN_MS = 10_000;

/** Noon, so that an hour either way is the same day. */
const NOON_MS = Date.parse("2030-01-15T12:00:00Z") - Date.now();

/** Resolves once the outcome of the first callback attempt is stored. */
async function answerStored({ dataDir }: Server): Promise<void> {
  const ended = "SELECT 1 FROM callback_attempt WHERE ended_at IS NOT NULL";
  while (readDatabase(dataDir, ended).length === 0) await Bun.sleep(5);
}

/** Sets a server's clock, and waits until tasks are created by it. */
async function setClock(api: Api, clock: SettableClock, offsetMs: number): Promise<void> {
  clock.set(offsetMs);
  const until = performance.now() + NOTICED_WITHIN_MS;
  for (;;) {
    const { created_at: at = 0 } = await api.wait(await api.accept(QUICK), "image", 0);
    if (Math.abs(at * 1_000 - Date.now() - offsetMs) < 60_000) return;
    if (performance.now() > until) throw new Error("The clock is not followed.");
    await Bun.sleep(20);
  }
}

async function newKey({ folder }: Server, clock: SettableClock, ...flags: string[]): Promise<string> {
  const args = ["keys", "create", "--name", "limited", "--show-secret-only", ...flags];
  const { stdout, stderr, exitCode } = await svc(args, { folder, env: clock.env });
  if (exitCode !== 0) throw new Error(stderr);
  return stdout.trim();
}

describe.skipIf(!canSetClocks)("limits by the clock (needs faketime)", () => {
  let server: Server;
  let api: Api;
  let limited: Api;
  let first: string;
  const clock = openClock(NOON_MS);
  const keyed = { "Idempotency-Key": "order 1" };

  beforeAll(async () => {
    if (!canSetClocks) return;
    server = await startServer({ env: clock.env });
    api = createApi(server.url, server.firstKey());
    const terms = ["--expires", "2h", "--quota", "0.01", "--quota-reset", "daily"];
    limited = createApi(server.url, await newKey(server, clock, ...terms));
    first = await api.accept(QUICK, keyed);
    expect((await limited.create(QUICK)).status).toBe(200);
  });
  afterAll(stopServers);

  test.each([
    ["an hour ahead", HOUR_MS, { isReplayed: true, create: 402 }],
    ["an hour back", -HOUR_MS, { isReplayed: true, create: 402 }],
    ["a day back, where the quota of that day is unused", -DAY_MS, { isReplayed: true, create: 200 }],
    ["at noon again, where the quota is used still", 0, { isReplayed: true, create: 402 }],
    ["a day ahead, where the key has expired", DAY_MS, { isReplayed: true, create: 401 }],
    [
      "eight days ahead, where the idempotency key is forgotten",
      8 * DAY_MS,
      { isReplayed: false, create: 401 },
    ],
  ])("follow it when it is set %s", async (_, offsetMs, wanted) => {
    await setClock(api, clock, NOON_MS + offsetMs);
    const isReplayed = (await api.accept(QUICK, keyed)) === first;
    expect({ isReplayed, create: (await limited.create(QUICK)).status }).toEqual(wanted);
  });
});

describe.skipIf(!canSetClocks)("what lasts is not changed by a clock that is set (needs faketime)", () => {
  const receivers: Receiver[] = [];
  afterAll(async () => {
    for (const receiver of receivers.splice(0)) await receiver.stop();
    await stopServers();
  });

  test.concurrent.each([-HOUR_MS, HOUR_MS])(
    "a callback's next attempt comes after its delay (%d ms)",
    async (byMs) => {
      const receiver = openReceiver({ answers: [new Response(null, { status: 500 })] });
      receivers.push(receiver);
      const clock = openClock();
      const args = [...ALLOW_LOOPBACK, "--callbacks-delays-seconds", "3,3"];
      const server = await startServer({ env: clock.env, args });
      const api = createApi(server.url, server.firstKey());
      await api.accept({ ...QUICK, callback_url: receiver.url });
      await receiver.received(1);
      await answerStored(server);
      clock.set(byMs);
      const startedAt = performance.now();
      await Promise.race([receiver.received(2), Bun.sleep(NOTICED_WITHIN_MS)]);
      expect(receiver.posts).toHaveLength(2);
      expect(performance.now() - startedAt).toBeGreaterThan(1_000);
    },
  );

  test.concurrent("a caller waits no longer than it asked to, and is limited for no longer than a minute", async () => {
    const clock = openClock();
    const server = await startServer({ env: clock.env });
    const api = createApi(server.url, server.firstKey());
    const id = await api.accept({ ...QUICK, sandbox: { outcome: "hang" } });
    const limited = createApi(server.url, await newKey(server, clock, "--rpm", "1"));
    expect((await limited.create(QUICK)).status).toBe(200);
    const answer = api.wait(id, "image", 3);
    await api.underWay(id);
    clock.set(-HOUR_MS);
    const status = await Promise.race([
      answer.then((task) => task.status),
      Bun.sleep(NOTICED_WITHIN_MS).then(() => "no answer"),
    ]);
    expect(status).toBe("processing");
    const refused = await limited.create(QUICK);
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get("retry-after"))).toBeLessThanOrEqual(60);
    server.signal("SIGKILL");
  });

  test.concurrent("tasks, callbacks and keys pass the second at which 32 bits overflow, in 2038", async () => {
    const receiver = openReceiver();
    receivers.push(receiver);
    const clock = openClock(2 ** 31 * 1_000 - 3_000 - Date.now());
    const server = await startServer({ env: clock.env, args: [...ALLOW_LOOPBACK] });
    const api = createApi(server.url, await newKey(server, clock, "--expires", "30d"));
    const task = await api.make({
      ...QUICK,
      sandbox: { delay_ms: 3_500 },
      callback_url: receiver.url,
    });
    expect(task.status).toBe("completed");
    expect(task.completed_at).toBeGreaterThanOrEqual(2 ** 31);
    await receiver.received(1);
    expect(receiver.posts[0]?.body.task_id).toBe(task.task_id);
  });
});
