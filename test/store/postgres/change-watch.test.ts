import { describe, expect, test } from "bun:test";
import { type Cache, createChangeWatch } from "../../../src/store/postgres/change-watch.ts";
import type { Parameter } from "../../../src/store/postgres/session.ts";

/** A server that carries notifications, until it is told to be deaf or away. */
function fakeServer() {
  const channels = new Map<string, { tell: (payload: string) => void; again: () => void }>();
  const state = { isDeaf: false, isAway: false, anew: 0, notified: [] as string[] };
  return {
    state,
    channels,
    driver: {
      aside: {
        async ask(text: string, parameters: readonly Parameter[]) {
          if (state.isAway) throw new Error("away");
          if (text.includes("gen_random_uuid")) return { rows: [{ name: "pulse" }], count: 1 };
          const [channel = "", payload = ""] = parameters.map(String);
          if (channel !== "pulse") state.notified.push(payload);
          if (!state.isDeaf) channels.get(channel)?.tell(payload);
          return { rows: [], count: 1 };
        },
      },
      async listenAnew() {
        state.anew++;
        if (state.isAway) throw new Error("away");
        state.isDeaf = false;
      },
      async listen(channel: string, tell: (payload: string) => void, again: () => void) {
        if (state.isAway) throw new Error("away");
        channels.set(channel, { tell, again });
        again();
      },
    },
  };
}

/** A cache that counts what it is told, and resolves when it has aged as often as wanted. */
function countingCache() {
  const counts = { forgotten: 0, aged: 0 };
  let waiting: { count: number; resolve: () => void } | undefined;
  const cache: Cache = {
    forget: () => void counts.forgotten++,
    age() {
      counts.aged++;
      if (waiting && counts.aged >= waiting.count) waiting.resolve();
    },
  };
  const agedTimes = (more: number) =>
    new Promise<void>((resolve) => {
      waiting = { count: counts.aged + more, resolve };
    });
  return { cache, counts, agedTimes };
}

async function startWatch(server = fakeServer()) {
  const watch = createChangeWatch(server.driver, 1);
  const [keys, prices] = [countingCache(), countingCache()];
  watch.onChange("keys", keys.cache);
  watch.onChange("prices", prices.cache);
  watch.start();
  return { watch, keys, prices, ...server };
}

describe("watching for changes by other processes", () => {
  test("what is told of concerns its own caches alone, and no row is in it", async () => {
    const { watch, keys, prices, state, channels } = await startWatch();
    await Bun.sleep(0);
    const before = { ...keys.counts };
    expect(prices.counts.forgotten).toBe(1);
    channels.get("svc_change")?.tell("keys");
    expect([keys.counts.forgotten, prices.counts.forgotten]).toEqual([before.forgotten + 1, 1]);
    await watch.tell("prices");
    expect([state.notified, prices.counts.forgotten]).toEqual([["prices"], 2]);
    watch.stop();
  });

  test("when it listens again after a loss, all is forgotten", async () => {
    const { watch, keys, prices, channels } = await startWatch();
    await Bun.sleep(0);
    channels.get("svc_change")?.again();
    expect([keys.counts.forgotten, prices.counts.forgotten]).toEqual([2, 2]);
    watch.stop();
  });

  /** Counts the pulses that are sent, one at each look. */
  function countPulses({ aside }: ReturnType<typeof fakeServer>["driver"]) {
    const counts = { pulses: 0 };
    const { ask } = aside;
    aside.ask = (text, parameters) => {
      if (parameters[0] === "pulse") counts.pulses++;
      return ask(text, parameters);
    };
    return counts;
  }

  test("while its pulse is not heard, what is at hand is read anew at each look", async () => {
    const { watch, keys, state, driver } = await startWatch();
    await keys.agedTimes(1);
    state.isDeaf = true;
    await keys.agedTimes(2);
    const counts = countPulses(driver);
    await keys.agedTimes(20);
    expect(counts.pulses).toBeLessThanOrEqual(20);
    watch.stop();
  });

  test("a connection on which no pulse is heard for long is made anew, also where that fails at first", async () => {
    const { watch, keys, state, channels } = await startWatch();
    while (channels.size < 2) await Bun.sleep(1);
    state.isAway = true;
    while (state.anew < 3) await keys.agedTimes(1);
    state.isDeaf = true;
    state.isAway = false;
    while (state.isDeaf) await keys.agedTimes(1);
    const { anew } = state;
    await keys.agedTimes(2);
    expect(state.anew).toBe(anew);
    watch.stop();
  });

  test("while its pulse is heard, what is at hand is read anew much less often, but is", async () => {
    const { watch, keys, driver } = await startWatch();
    await keys.agedTimes(2);
    const counts = countPulses(driver);
    await keys.agedTimes(2);
    expect(counts.pulses).toBeGreaterThanOrEqual(40);
    watch.stop();
  });

  test("a server that is away at first is listened to once it is there", async () => {
    const server = fakeServer();
    server.state.isAway = true;
    const { watch, keys, state, channels } = await startWatch(server);
    await keys.agedTimes(5);
    expect(channels.size).toBe(0);
    state.isAway = false;
    while (channels.size < 2) await Bun.sleep(1);
    expect(keys.counts.forgotten).toBe(1);
    watch.stop();
  });

  test("what cannot be told is tried again, and fails no change that is committed", async () => {
    const { watch, state } = await startWatch();
    state.isAway = true;
    await watch.tell("keys");
    expect(state.notified).toEqual([]);
    const told = watch.tell("keys");
    state.isAway = false;
    await told;
    expect(state.notified).toEqual(["keys"]);
    watch.stop();
  });
});
