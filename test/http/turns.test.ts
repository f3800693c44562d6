import { expect, test } from "bun:test";
import { createTurns } from "../../src/http/turns.ts";

/** Turns with a timer that is called by hand. */
function turnsByHand() {
  const timers: (() => void)[] = [];
  const after = (_: number, callback: () => void) => {
    timers.push(callback);
    return () => {};
  };
  const turns = createTurns({ clock: { after } });
  return { turns, nextPeriod: () => timers.shift()?.() };
}

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Asks so often at once. @returns how many have begun, now or later */
function ask(turns: ReturnType<typeof createTurns>, account: string, times: number) {
  let begun = 0;
  for (let i = 0; i < times; i++) {
    const turn = turns(account);
    if (turn === undefined) begun++;
    else void turn.then(() => begun++);
  }
  return () => begun;
}

test("an account that is alone waits for nothing", () => {
  const { turns } = turnsByHand();
  expect(ask(turns, "a", 1_000)()).toBe(1_000);
});

test("of an account beside others, sixteen requests begin in each turn, in their order", async () => {
  const { turns } = turnsByHand();
  turns("b");
  const many = ask(turns, "a", 40);
  expect(many()).toBe(16);
  await nextTurn();
  expect(many()).toBe(32);
  // One that asks now goes before those that still wait.
  expect(ask(turns, "b", 1)()).toBe(1);
  await nextTurn();
  expect(many()).toBe(40);
});

test("an account is alone again once the others have been silent for two periods", () => {
  const { turns, nextPeriod } = turnsByHand();
  turns("b");
  expect(ask(turns, "a", 20)()).toBe(16);
  nextPeriod();
  expect(ask(turns, "c", 20)()).toBe(16);
  nextPeriod();
  nextPeriod();
  nextPeriod();
  expect(ask(turns, "d", 1_000)()).toBe(1_000);
});
