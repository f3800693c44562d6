import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { CallbackAttempt, Delivery } from "../../src/domain/callback/callback.ts";
import { taskError } from "../../src/domain/errors.ts";
import { CALLBACK_DELAYS_MS } from "../../src/domain/limits.ts";
import type { CallbackForm, CallbackForms } from "../../src/domain/ports/callback-forms.ts";
import type { CallbackPost } from "../../src/domain/ports/egress.ts";
import { failed } from "../../src/domain/task/transition.ts";
import { type CallbackOptions, createCallbackSender } from "../../src/scheduler/callbacks.ts";
import type { Store } from "../../src/store/open.ts";
import { fakeClock } from "../helpers/engine.ts";
import { openEmptyStore } from "../helpers/open-store.ts";
import { fakeSecrets } from "../helpers/secrets.ts";
import {
  ACCOUNT,
  addAccount,
  admit,
  bySystem,
  callbackId,
  claimOne,
  keyId,
  NOW,
  newKey,
  taskId,
} from "../helpers/store.ts";

const OK: Delivery = { kind: "delivered", status: 200 };
const ERROR: Delivery = { kind: "refused", status: 503 };
const LEASE_MS = 30_000;

interface Arrived extends CallbackPost {
  readonly url: string;
  readonly at: number;
}
type Answer = (post: Arrived, signal: AbortSignal) => Delivery | Promise<Delivery>;

let store: Store;
let clock: ReturnType<typeof fakeClock>;
let arrived: Arrived[];
let sends: string[];

beforeEach(async () => {
  store = openEmptyStore();
  await addAccount(store, { id: ACCOUNT });
  clock = fakeClock();
  arrived = [];
  sends = [];
});
afterEach(() => store.stop());

/** A sender whose receivers answer as told; nothing is random. */
function createSender(
  answer: Answer,
  options: Partial<CallbackOptions> = {},
  forms: CallbackForms = () => undefined,
  callbacks: Store["callbacks"] = store.callbacks,
) {
  const deliver = async (url: string, post: CallbackPost, signal: AbortSignal) => {
    const arrival = { ...post, url, at: clock.now() };
    arrived.push(arrival);
    return answer(arrival, signal);
  };
  const log: string[] = [];
  const write = (fields: object) => void log.push(JSON.stringify(fields));
  const sender = createCallbackSender(
    {
      callbacks,
      tasks: store.tasks,
      accounts: store.accounts,
      egress: {
        refusal: () => undefined,
        fetchMedia: () => Promise.reject(new Error("nothing is fetched")),
        deliver,
        ask: () => Promise.reject(new Error("nothing is asked")),
      },
      forms,
      secrets: fakeSecrets(),
      clock,
      random: () => 0.5,
      log: { debug: write, info: write, warn: write, error: write },
      tally: { callbackSent: (outcome, isOver) => void sends.push(isOver ? `${outcome}, over` : outcome) },
    },
    {
      delaysMs: () => CALLBACK_DELAYS_MS,
      limits: { total: 100, perAccount: 100, perHost: 100 },
      ...options,
    },
  );
  return { ...sender, log };
}

async function owe(number = 1, url = `https://example.com/hook?token=secret-${number}`): Promise<void> {
  await admit(store, { number, callbackUrl: url });
  const lease = await claimOne(store, { now: clock.now() });
  const end = failed(lease.task, clock.now(), taskError("UPSTREAM_ERROR"), callbackId(number));
  await store.tasks.apply(lease, end);
}

/** Sends whatever becomes due, however long it takes. */
async function runToEnd(sender: { tick(): Promise<number> }): Promise<void> {
  for (let round = 0; round < 20; round++) {
    while ((await sender.tick()) > 0);
    const next = await store.callbacks.nextDueAt();
    if (next === undefined) return;
    clock.set(Math.max(next, clock.now()));
  }
}

const stateOf = async (number = 1) => (await store.callbacks.byId(callbackId(number)))?.state;
const outcomes = (attempts: CallbackAttempt[]) => attempts.map(({ outcome }) => outcome);

describe("a receiver", () => {
  test("that accepts gets one POST with the task's end", async () => {
    await owe();
    await runToEnd(createSender(() => OK));
    expect(arrived).toHaveLength(1);
    expect(arrived[0]?.headers).toBeUndefined();
    expect(JSON.parse(arrived[0]?.body ?? "")).toEqual({
      task_id: taskId(1),
      request_id: "req_1",
      status: "failed",
      error: taskError("UPSTREAM_ERROR").message,
      error_code: "UPSTREAM_ERROR",
      created_at: new Date(NOW).toISOString(),
      completed_at: new Date(NOW).toISOString(),
    });
    expect(await stateOf()).toBe("delivered");
  });

  test("that fails four times and then accepts gets five equal POSTs, each later than the one before", async () => {
    await owe();
    await runToEnd(createSender(() => (arrived.length < 5 ? ERROR : OK)));
    expect(arrived.map(({ at }) => at - NOW)).toEqual([0, 5_000, 65_000, 665_000, 4_265_000]);
    expect(new Set(arrived.map(({ body, url }) => body + url)).size).toBe(1);
    expect(await stateOf()).toBe("delivered");
    expect(sends).toEqual([...Array(4).fill("refused"), "delivered, over"]);
  });

  test("that always fails gets five POSTs, and the task stays as it was", async () => {
    await owe();
    const before = await store.tasks.byId(taskId(1));
    await runToEnd(createSender(() => ERROR));
    expect(arrived).toHaveLength(5);
    expect(await stateOf()).toBe("failed");
    expect(sends).toEqual([...Array(4).fill("refused"), "refused, over"]);
    expect(await store.tasks.byId(taskId(1))).toEqual(before);
  });

  test("may say when to come again, up to an hour from then", async () => {
    await owe();
    const asked = [90_000, 86_400_000];
    await runToEnd(createSender(() => ({ ...ERROR, retryAfterMs: asked[arrived.length - 1] }) as Delivery));
    expect(arrived.slice(0, 4).map(({ at }) => at - NOW)).toEqual([0, 90_000, 3_690_000, 4_290_000]);
  });

  test("that may not be called is not tried again", async () => {
    await owe();
    await runToEnd(
      createSender(() => ({
        kind: "forbidden",
        reason: "points to an address that is not public (private)",
      })),
    );
    expect(arrived).toHaveLength(1);
    expect(await stateOf()).toBe("failed");
  });

  test("is tried as often as the operator has set delays", async () => {
    await owe();
    await runToEnd(createSender(() => ERROR, { delaysMs: () => [10, 20] }));
    expect(arrived.map(({ at }) => at - NOW)).toEqual([0, 10, 30]);
    expect(await stateOf()).toBe("failed");
  });
});

test("each send is signed with the secret that its key has by then, and not at all without one", async () => {
  const [a, b] = ["a", "b"].map((letter) => `whsec_${letter.repeat(32)}`);
  await store.accounts.createKey(newKey({ signsCallbacks: true }), a, bySystem());
  await owe();
  const changes = [{ secret: b ?? "" }, null];
  await runToEnd(
    createSender(async () => {
      const signing = changes[arrived.length - 1];
      if (signing !== undefined)
        await store.accounts.changeKey(keyId(1), { policy: {}, signing }, bySystem());
      return arrived.length < 3 ? ERROR : OK;
    }),
  );
  const signedWith = arrived.map(({ headers }) => headers?.["webhook-signature"]?.split(" by ")[1]);
  expect(signedWith).toEqual([a, b, undefined]);
  expect(arrived.map(({ headers }) => headers?.["webhook-id"])).toEqual([
    callbackId(1),
    callbackId(1),
    undefined,
  ]);
  expect(new Set(arrived.map(({ body }) => body)).size).toBe(1);
});

describe("a sender", () => {
  test("never has more under way than the limits allow, and goes on as sends end", async () => {
    for (const number of [1, 2, 3]) await owe(number, "https://slow.example/hook");
    await owe(4, "https://other.example/hook");
    const answers: ((delivery: Delivery) => void)[] = [];
    const sender = createSender(() => new Promise<Delivery>((resolve) => answers.push(resolve)), {
      limits: { total: 100, perAccount: 100, perHost: 2 },
    });
    await sender.start();
    await until(() => arrived.length === 3);
    const hosts = () => arrived.map(({ url }) => new URL(url).host).toSorted();
    expect(hosts()).toEqual(["other.example", "slow.example", "slow.example"]);
    for (const answer of answers.splice(0)) answer(OK);
    await until(() => arrived.length === 4);
    expect(hosts()).toHaveLength(4);
    const stopped = sender.stop(60_000);
    for (const answer of answers.splice(0)) answer(OK);
    await stopped;
    expect(await Promise.all([1, 2, 3, 4].map(stateOf))).toEqual(Array(4).fill("delivered"));
  });

  test("sends the next one while the outcome of an answered one is being recorded", async () => {
    for (const number of [1, 2]) await owe(number, "https://slow.example/hook");
    const written = Promise.withResolvers<void>();
    const callbacks: Store["callbacks"] = {
      ...store.callbacks,
      record: async (...outcome) => {
        await written.promise;
        return store.callbacks.record(...outcome);
      },
    };
    const limits = { total: 1, perAccount: 1, perHost: 1 };
    const sender = createSender(() => OK, { limits }, undefined, callbacks);
    await sender.start();
    await until(() => arrived.length === 2);
    const stopped = sender.stop(60_000);
    written.resolve();
    await stopped;
    expect(await Promise.all([1, 2].map(stateOf))).toEqual(["delivered", "delivered"]);
  });

  test("sends more at once to a host that answers quickly", async () => {
    for (let number = 1; number <= 30; number++) await owe(number, "https://quick.example/hook");
    const answers: ((delivery: Delivery) => void)[] = [];
    const sender = createSender(() => new Promise<Delivery>((resolve) => answers.push(resolve)));
    await sender.start();
    let sent = 0;
    for (const width of [4, 8, 16]) {
      sent += width;
      await until(() => arrived.length === sent);
      for (const answer of answers.splice(0)) answer(OK);
    }
    await until(() => arrived.length === 30);
    const stopped = sender.stop(60_000);
    for (const answer of answers.splice(0)) answer(OK);
    await stopped;
  });

  test("sends within a second what another process asked for on the same data folder", async () => {
    await owe();
    const sender = createSender(() => OK);
    await sender.start();
    await until(async () => (await stateOf()) === "delivered");
    await store.callbacks.redeliver({ accountId: ACCOUNT, id: callbackId(1), limit: 1 });
    await until(() => {
      clock.advance(1_000);
      return arrived.length === 2;
    });
    await sender.stop();
  });

  test("leaves to other processes of its database what they are sending, as long as they may send it", async () => {
    await owe();
    const limits = { total: 1, perAccount: 1, perHost: 1 };
    await store.callbacks.claim({ now: clock.now(), leaseMs: LEASE_MS, limits, underWay: [] });
    clock.advance(LEASE_MS);
    const early = createSender(() => OK, { isShared: true });
    await early.start();
    await early.stop();
    expect(outcomes(await store.callbacks.attempts(callbackId(1)))[0]).toBeUndefined();
    clock.advance(1);
    const late = createSender(() => OK, { isShared: true });
    await late.start();
    await late.stop();
    expect(outcomes(await store.callbacks.attempts(callbackId(1)))[0]).toBe("interrupted");
  });

  test("takes up what a process that died was sending, after the delay of that attempt", async () => {
    await owe();
    const limits = { total: 1, perAccount: 1, perHost: 1 };
    await store.callbacks.claim({ now: clock.now(), leaseMs: LEASE_MS, limits, underWay: [] });
    clock.advance(1_000);
    const sender = createSender(() => OK);
    await sender.start();
    expect(arrived).toEqual([]);
    expect(await store.callbacks.nextDueAt()).toBe(NOW + 6_000);
    clock.set(NOW + 6_000);
    await until(async () => (await stateOf()) === "delivered");
    expect(outcomes(await store.callbacks.attempts(callbackId(1)))).toEqual(["interrupted", "delivered"]);
    await sender.stop();
  });

  test("that is stopped lets sends end within the time it is given, and records the rest as interrupted", async () => {
    await owe(1);
    await owe(2);
    const begun = Promise.withResolvers<void>();
    const sender = createSender(
      ({ body }, signal) =>
        new Promise<Delivery>((resolve) => {
          if (arrived.length === 2) begun.resolve();
          if (body.includes(taskId(1))) clock.after(50, () => resolve(OK));
          signal.addEventListener("abort", () => resolve({ kind: "unreachable", reason: "AbortError" }));
        }),
    );
    await sender.start();
    await begun.promise;
    const stopped = sender.stop(100);
    await new Promise(setImmediate);
    clock.advance(50);
    clock.advance(50);
    await stopped;
    expect(await stateOf(1)).toBe("delivered");
    expect(await stateOf(2)).toBe("pending");
    expect(outcomes(await store.callbacks.attempts(callbackId(2)))).toEqual(["interrupted"]);
    expect(await store.callbacks.nextDueAt()).toBe(NOW + 100 + 5_000);
  });

  test("logs how a send went, and no URL", async () => {
    await owe();
    const sender = createSender(() => ERROR, { delaysMs: () => [] });
    await runToEnd(sender);
    expect(sender.log).toHaveLength(1);
    expect(JSON.parse(sender.log[0] ?? "")).toEqual({
      callback: callbackId(1),
      task: taskId(1),
      host: "example.com",
      attempt: 1,
      send: 1,
      outcome: "refused",
      status: 503,
    });
  });
});

async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  for (let i = 0; i < 1000 && !(await isTrue()); i++) await new Promise(setImmediate);
  expect(await isTrue()).toBe(true);
}

describe("a callback in another form", () => {
  const form: CallbackForm = {
    delaysMs: [1_000, 2_000, 3_000, 4_000, 5_000, 6_000],
    isSignedByKey: false,
    body: ({ task, event, at, origin, options }) =>
      JSON.stringify({ id: task.id, event, at, origin, options: options ?? null }),
    headers: ({ id, body }) => ({ "x-signed": `${id} ${body.length}` }),
    accepts: (status) => status < 500,
  };
  const forms = (name: string) => (name === "other" ? form : undefined);
  const owed = async (name: string) => {
    const callbackTerms = { form: name, events: ["failed"], attempts: 7, options: { a: 1 } } as const;
    await admit(store, { callbackUrl: "https://example.com/hook", callbackTerms });
    const lease = await claimOne(store, { now: clock.now() });
    await store.tasks.apply(
      lease,
      failed(lease.task, clock.now(), taskError("UPSTREAM_ERROR"), callbackId(1)),
    );
  };

  test("is worded, signed and tried again as that has it", async () => {
    await owed("other");
    await runToEnd(createSender(() => ERROR, {}, forms));
    expect(arrived.map(({ at }) => at - NOW)).toEqual([0, 1, 3, 6, 10, 15, 21].map((sec) => sec * 1_000));
    const body = JSON.stringify({
      ...{ id: taskId(1), event: "failed", at: NOW },
      ...{ origin: "http://localhost:8080", options: { a: 1 } },
    });
    for (const { body: sent, headers } of arrived)
      expect([sent, headers]).toEqual([body, { "x-signed": `${callbackId(1)} ${body.length}` }]);
    expect(await stateOf()).toBe("failed");
  });

  test("is acknowledged by what acknowledges there", async () => {
    await owed("other");
    await runToEnd(createSender(() => ({ kind: "refused", status: 404 }), {}, forms));
    expect([arrived.length, await stateOf()]).toEqual([1, "delivered"]);
  });

  test("that this program does not know is never sent", async () => {
    await owed("later");
    await runToEnd(createSender(() => OK, {}, forms));
    expect([arrived.length, await stateOf()]).toEqual([0, "failed"]);
    expect((await store.callbacks.attempts(callbackId(1)))[0]?.reason).toContain("does not know its form");
  });
});
