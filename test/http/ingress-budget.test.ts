import { expect, test } from "bun:test";
import { createIngressBudget, type IngressShare } from "../../src/http/ingress/budget.ts";

const LIMITS = { bytes: 1_000, bodies: 8, waiting: 4 };
const STAYS = new AbortController().signal;

const turns = async () => {
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
};

/** Opens bodies, each of the owner that its name begins with. */
function driver(limits = LIMITS) {
  const budget = createIngressBudget(limits);
  const open = new Map<string, IngressShare>();
  const on: string[] = [];
  return {
    open,
    /** Bodies that were let on after they had waited for memory. */
    on,
    start: (name: string, gone: AbortSignal = STAYS, unreadBytes = 1) =>
      budget.open(name.charAt(0), gone, unreadBytes).then((share) => void open.set(name, share)),
    wait: (name: string) =>
      open
        .get(name)
        ?.room()
        ?.then(() => void on.push(name)),
    end(name: string) {
      open.get(name)?.close();
      open.delete(name);
    },
  };
}

const refusal = (promise: Promise<unknown>) => promise.then(() => undefined).catch((error: unknown) => error);

test("an owner that holds nothing is let in at once, whatever others hold", async () => {
  const { open, start } = driver();
  for (let i = 0; i < 6; i++) await start(`a${i}`);
  const seventh = start("a6");
  await turns();
  expect([...open.keys()]).toEqual(["a0", "a1", "a2", "a3", "a4", "a5"]);
  open.get("a0")?.take(5_000);
  for (const name of ["b0", "c0", "d0"]) await start(name);
  expect([...open.keys()].slice(6)).toEqual(["b0", "c0", "d0"]);
  void seventh;
});

test("bodies of one owner are let in in the order they came", async () => {
  const { open, start, end } = driver();
  const all = Array.from({ length: 8 }, (_, i) => start(`a${i}`));
  await turns();
  end("a3");
  await turns();
  expect([...open.keys()]).toEqual(["a0", "a1", "a2", "a4", "a5", "a6"]);
  end("a0");
  await Promise.all(all);
});

test("one body too many to wait is told when to come again, and another owner may still wait", async () => {
  const { start } = driver({ ...LIMITS, bodies: 1 });
  await start("a0");
  await start("b0");
  for (let i = 1; i < 4; i++) void start(`a${i}`);
  expect(await refusal(start("a4"))).toMatchObject({
    code: "service_unavailable",
    details: { retryAfterSec: 5, shouldRetry: true },
  });
  void start("b1");
  expect(await refusal(start("b2"))).toMatchObject({ code: "service_unavailable" });
});

test("so many small bodies may wait as hold no more unread than a few large ones", async () => {
  const { open, start, end } = driver({ ...LIMITS, bodies: 1, waiting: 400 });
  await start("a0");
  const small = Array.from({ length: 30 }, (_, i) => start(`a${i + 1}`, STAYS, 10));
  expect(await refusal(start("a31", STAYS, 10))).toMatchObject({ code: "service_unavailable" });
  expect(await refusal(start("b0", STAYS, 100))).toBeUndefined();
  for (let i = 0; i < 30; i++) {
    end(`a${i}`);
    if (i === 0) end("b0");
    await small[i];
  }
  expect([...open.keys()]).toEqual(["a30"]);
  // All that waited has given its memory back.
  const large = [start("a32", STAYS, 300)];
  expect(await refusal(start("a33", STAYS, 1))).toMatchObject({ code: "service_unavailable" });
  end("a30");
  await Promise.all(large);
});

test("a client that leaves gives up its place in the line", async () => {
  const { open, start, end } = driver({ ...LIMITS, bodies: 1 });
  const client = new AbortController();
  await start("a0");
  const leaving = refusal(start("a1", client.signal));
  const next = start("a2");
  client.abort();
  expect(await leaving).toMatchObject({ code: "invalid_request", facts: { kind: "upload_abandoned" } });
  end("a0");
  await next;
  expect([...open.keys()]).toEqual(["a2"]);
});

test("where memory is short, one body of each owner reads on and its others wait until it ends", async () => {
  const { open, on, start, wait, end } = driver();
  for (const name of ["a0", "a1", "a2"]) await start(name);
  for (const name of ["a0", "a1", "a2"]) open.get(name)?.take(260);
  expect(open.get("a1")?.room()).toBeUndefined();
  const waiting = [wait("a0"), wait("a2")];
  await turns();
  expect(on).toEqual([]);
  // It is the foremost, so it goes on however much it holds.
  open.get("a1")?.take(5_000);
  expect(open.get("a1")?.room()).toBeUndefined();
  await start("b0");
  open.get("b0")?.take(500);
  expect(open.get("b0")?.room()).toBeUndefined();
  end("a1");
  await turns();
  expect(on).toEqual(["a0"]);
  end("b0");
  await Promise.all(waiting);
  expect(on).toEqual(["a0", "a2"]);
});

test("memory given back lets a waiting body read on", async () => {
  const { open, on, start, wait } = driver();
  for (const name of ["a0", "a1"]) await start(name);
  open.get("a0")?.take(800);
  expect(open.get("a0")?.room()).toBeUndefined();
  const waiting = wait("a1");
  await turns();
  expect(on).toEqual([]);
  open.get("a0")?.give(600);
  await waiting;
  expect(on).toEqual(["a1"]);
});

test("a body that waits to read on is told when its client leaves", async () => {
  const { open, start } = driver();
  const client = new AbortController();
  await start("a0");
  await start("a1", client.signal);
  open.get("a0")?.take(800);
  expect(open.get("a0")?.room()).toBeUndefined();
  const waiting = refusal(open.get("a1")?.room() ?? Promise.resolve());
  client.abort();
  expect(await waiting).toMatchObject({ code: "invalid_request", facts: { kind: "upload_abandoned" } });
});
