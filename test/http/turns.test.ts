import { expect, test } from "bun:test";
import { createCompany, createTurns } from "../../src/http/turns.ts";

/** Turns of the event loop that compute as long as is said. */
function createLoop() {
  let totalMs = 0;
  let waitedMs = 0;
  const turns = createTurns({
    perTurn: 4,
    mayPass: (asker) => asker === "passing",
    computedMs: () => totalMs,
    elapsedMs: () => totalMs + waitedMs,
  });
  const computing = (ms: number) => (): void => {
    totalMs += ms;
  };
  return {
    turns,
    /** Asks once for what computes so long as it begins. */
    compute: (asker: string, ms: number) => void turns(asker, computing(ms)),
    /** Has an operator ask for that. */
    operate: (ms: number) => turns.aside(computing(ms)),
    /** Asks so often at once. @returns how many have begun, now or later */
    ask(asker: string, times: number): () => number {
      let begun = 0;
      for (let i = 0; i < times; i++) void turns(asker, () => begun++);
      return () => begun;
    },
    async turn(computedMs = 0, waited = 0): Promise<void> {
      totalMs += computedMs;
      waitedMs += waited;
      await new Promise<void>((resolve) => setImmediate(resolve));
    },
  };
}

test("four requests of one asker begin in each turn, in their order", async () => {
  const { turns, turn } = createLoop();
  const order: number[] = [];
  for (let i = 0; i < 10; i++) void turns("a", () => order.push(i));
  expect(order).toEqual([0, 1, 2, 3]);
  await turn();
  expect(order).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  await turn();
  expect(order).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

test("after a turn that waited for the disk or a processor more begin, up to four times as many", async () => {
  const { ask, turn } = createLoop();
  const begun = ask("a", 60);
  const counts = [begun()];
  for (const [computedMs, waitedMs] of [
    [0, 1.9],
    [0, 2],
    [0, 100],
    [3, 4],
    [0, 0],
  ] as const) {
    await turn(computedMs, waitedMs);
    counts.push(begun());
  }
  expect(counts).toEqual([4, 8, 16, 32, 35, 39]);
});

test("a request is told whether it had to wait", async () => {
  const { turns, turn } = createLoop();
  const late: boolean[] = [];
  for (let i = 0; i < 6; i++) void turns("a", (isLate) => late.push(isLate));
  await turn();
  expect(late).toEqual([false, false, false, false, true, true]);
});

test("one that asks now goes before those of others that wait", () => {
  const { ask } = createLoop();
  const many = ask("a", 40);
  expect(ask("b", 1)()).toBe(1);
  expect(many()).toBe(4);
});

test("whoever may pass waits for nothing, unless some of its requests wait already", async () => {
  let passes = false;
  const none = () => 0;
  const turns = createTurns({ perTurn: 4, mayPass: () => passes, computedMs: none, elapsedMs: none });
  let begun = 0;
  const ask = (times: number) => {
    for (let i = 0; i < times; i++) void turns("a", () => begun++);
  };
  ask(6);
  passes = true;
  ask(6);
  expect(begun).toBe(4);
  while (begun < 12) await new Promise<void>((resolve) => setImmediate(resolve));
  await new Promise<void>((resolve) => setImmediate(resolve));
  ask(100);
  expect(begun).toBe(112);
});

test("after a long turn one request of each asker begins, until turns are short again", async () => {
  const { ask, turn } = createLoop();
  const many = ask("a", 20);
  const others = ask("b", 20);
  await turn(3);
  expect([many(), others()]).toEqual([5, 5]);
  await turn(3);
  expect([many(), others()]).toEqual([6, 6]);
  await turn(2);
  expect([many(), others()]).toEqual([10, 10]);
});

test("what others' requests compute as they begin makes nobody's turns shorter", async () => {
  const { ask, compute, operate, turn } = createLoop();
  const many = ask("a", 20);
  operate(3);
  await turn();
  expect(many()).toBe(8);
  compute("b", 3);
  const after = ask("b", 20);
  await turn();
  // What "b" computed is its own: one of its requests begins, where four of the others do.
  expect([many(), after()]).toEqual([12, 4]);
  await turn();
  expect([many(), after()]).toEqual([16, 8]);
});

test("one that computes long with every request begins one in each turn, though none of them waits", async () => {
  const { compute, ask, turn } = createLoop();
  for (let i = 0; i < 3; i++) compute("a", 1);
  await turn();
  const after = ask("a", 4);
  expect(after()).toBe(1);
});

test("a request that fails as it begins fails alone", async () => {
  const { turns, ask, turn } = createLoop();
  ask("a", 4);
  const failing = turns("a", () => {
    throw new Error("refused");
  });
  const after = ask("a", 1);
  const failed = Promise.resolve(failing).catch((error: Error) => error.message);
  await turn();
  expect(await failed).toBe("refused");
  expect(after()).toBe(1);
});

test("an account is alone until another asks, and again once the others have been silent for two periods", () => {
  const timers: (() => void)[] = [];
  const after = (_: number, callback: () => void) => {
    timers.push(callback);
    return () => {};
  };
  const isAlone = createCompany({ clock: { after } });
  const nextPeriod = () => timers.shift()?.();
  expect(isAlone("a")).toBe(true);
  expect(isAlone("b")).toBe(false);
  nextPeriod();
  expect(isAlone("a")).toBe(false);
  nextPeriod();
  expect(isAlone("a")).toBe(true);
  nextPeriod();
  nextPeriod();
  expect(isAlone("c")).toBe(true);
});

test("askers who are not asked who they are count all the same, once there are as many as one may begin", async () => {
  const { turns, turn } = createLoop();
  const begun: string[] = [];
  let looks = 0;
  const asks = (asker: string) =>
    void turns(
      () => {
        looks += 1;
        return asker;
      },
      () => begun.push(asker),
    );
  for (const asker of ["a", "a", "a", "b"]) asks(asker);
  expect([begun, looks]).toEqual([["a", "a", "a", "b"], 0]);
  for (const asker of ["a", "a", "b"]) asks(asker);
  expect(begun).toEqual(["a", "a", "a", "b", "a", "b"]);
  await turn();
  expect(begun).toEqual(["a", "a", "a", "b", "a", "b", "a"]);
  asks("c");
  expect(begun.at(-1)).toBe("c");
});
