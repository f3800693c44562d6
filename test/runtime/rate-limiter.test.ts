import { afterEach, beforeEach, expect, setSystemTime, test } from "bun:test";
import { join } from "node:path";
import { createRateLimiter } from "../../src/runtime/rate-limiter.ts";
import { keyId } from "../helpers/store.ts";

const START = 1_800_000_000_000;
const KEY = keyId(1);

beforeEach(() => void setSystemTime(START));
afterEach(() => void setSystemTime());

const limiter = () => createRateLimiter({ clock: { now: Date.now } });

test("a key is allowed its limit in the minute from its first request on, and then again", async () => {
  const { take } = limiter();
  for (let minute = 0; minute < 3; minute++) {
    const beginsAt = START + minute * 60_000;
    for (let used = 1; used <= 5; used++) {
      setSystemTime(beginsAt + used * 100);
      const resetsAt = beginsAt + 60_100;
      expect(await take(KEY, 5)).toEqual({
        isAllowed: true,
        limit: 5,
        remaining: 5 - used,
        resetsAt,
        resetsInMs: resetsAt - Date.now(),
      });
    }
    setSystemTime(beginsAt + 60_099);
    expect(await take(KEY, 5)).toMatchObject({ isAllowed: false, remaining: 0, resetsInMs: 1 });
    // The next window begins with the next request, a little later each time.
    setSystemTime(beginsAt + 60_100);
  }
});

test("of requests at the same time no more than the limit are allowed", async () => {
  const { take } = limiter();
  const taken = await Promise.all(Array.from({ length: 500 }, () => take(KEY, 60)));
  expect(taken.filter(({ isAllowed }) => isAllowed)).toHaveLength(60);
});

test("ten times the limit over ten minutes lets ten limits through", async () => {
  const { take } = limiter();
  let allowed = 0;
  for (let ms = 0; ms < 600_000; ms += 100) {
    setSystemTime(START + ms);
    if ((await take(KEY, 60)).isAllowed) allowed += 1;
  }
  expect(allowed).toBe(600);
});

test("whoever waits as long as he is told is allowed", async () => {
  const { take } = limiter();
  for (let round = 0; round < 100; round++) {
    const first = await take(KEY, 1);
    const { isAllowed, resetsInMs } = await take(KEY, 1);
    expect([first.isAllowed, isAllowed]).toEqual([true, false]);
    setSystemTime(Date.now() + resetsInMs);
  }
});

test("keys are counted apart", async () => {
  const { take } = limiter();
  expect((await take(KEY, 1)).isAllowed).toBe(true);
  expect((await take(KEY, 1)).isAllowed).toBe(false);
  expect((await take(keyId(2), 1)).isAllowed).toBe(true);
});

test("looking counts nothing, and says what is left", async () => {
  const { take, peek } = limiter();
  expect(await peek(KEY, 5)).toEqual({ limit: 5, remaining: 5 });
  await take(KEY, 5);
  const expected = { limit: 5, remaining: 4, resetsAt: START + 60_000 };
  expect([await peek(KEY, 5), await peek(KEY, 5)]).toEqual([expected, expected]);
  expect((await peek(KEY, 1)).remaining).toBe(0);
  setSystemTime(START + 60_000);
  expect(await peek(KEY, 5)).toEqual({ limit: 5, remaining: 5 });
});

test("a limit that is raised or lowered rules at once", async () => {
  const { take } = limiter();
  for (let i = 0; i < 3; i++) await take(KEY, 3);
  expect((await take(KEY, 10)).isAllowed).toBe(true);
  expect((await take(KEY, 4)).isAllowed).toBe(false);
});

test("counting keeps no process alive", async () => {
  const script = `
    import { createRateLimiter } from ${JSON.stringify(join(import.meta.dir, "../../src/runtime/rate-limiter.ts"))};
    await createRateLimiter({ clock: { now: () => 0 } }).take("key_1", 1);
  `;
  const child = Bun.spawn([process.execPath, "-e", script], { timeout: 10_000 });
  expect(await child.exited).toBe(0);
});
