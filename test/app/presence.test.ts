import { expect, test } from "bun:test";
import { createPresence, oneAtATime } from "../../src/app/presence.ts";
import type { NodeStore } from "../../src/domain/ports/node-store.ts";
import { quietLog } from "../helpers/s3-store.ts";

test("what is asked for while it runs is not begun again, and begins anew once it has ended", async () => {
  const ends: (() => void)[] = [];
  const run = oneAtATime(() => new Promise<void>((resolve) => void ends.push(resolve)));
  const first = [run(), run(), run()];
  expect(ends).toHaveLength(1);
  ends[0]?.();
  await Promise.all(first);
  const next = run();
  expect(ends).toHaveLength(2);
  ends[1]?.();
  await next;
});

test("beats do not pile up while the database is away, and the next one says what was last to be said", async () => {
  const beats: { isDraining: boolean; answer: PromiseWithResolvers<void> }[] = [];
  const second = Promise.withResolvers<void>();
  const nodes: Omit<NodeStore, "connected"> = {
    beat({ isDraining }) {
      const answer = Promise.withResolvers<void>();
      beats.push({ isDraining, answer });
      if (beats.length === 2) second.resolve();
      return answer.promise;
    },
    leave: async () => {},
    all: async () => ({ nodes: [], now: 0 }),
  };
  const self = { id: "a", name: "a", role: "all", version: "1" } as const;
  const presence = createPresence({
    nodes,
    self,
    log: quietLog(),
    followTime: async () => {},
    elapsed: () => 0,
    onMoved: () => {},
  });
  const started = presence.start();
  for (let i = 0; i < 20; i++) presence.drain();
  expect(beats.map(({ isDraining }) => isDraining)).toEqual([false]);
  beats[0]?.answer.resolve();
  await second.promise;
  await started;
  expect(beats.map(({ isDraining }) => isDraining)).toEqual([false, true]);
  const stopped = presence.stop();
  beats[1]?.answer.resolve();
  await stopped;
  expect(beats).toHaveLength(2);
});

test("silent nodes are gone once this node has reported for ten seconds without a break", async () => {
  let now = 0;
  let isAway = false;
  const nodes: Omit<NodeStore, "connected"> = {
    async beat() {
      if (isAway) throw new Error("away");
    },
    leave: async () => {},
    all: async () => ({ nodes: [], now: 0 }),
  };
  const self = { id: "a", name: "a", role: "all", version: "1" } as const;
  const presence = createPresence({
    ...{ nodes, self, log: quietLog(), followTime: async () => {}, elapsed: () => now, onMoved: () => {} },
  });
  const beatAt = async (at: number) => {
    now = at;
    presence.drain();
    await Bun.sleep(0);
    return presence.isSteady();
  };
  const steady: boolean[] = [];
  for (const at of [0, 2_000, 4_000, 6_000, 8_000, 10_000]) steady.push(await beatAt(at));
  expect(steady).toEqual([false, false, false, false, false, true]);
  isAway = true;
  expect([await beatAt(12_000), await beatAt(16_000)]).toEqual([true, false]);
  isAway = false;
  expect([await beatAt(18_000), await beatAt(22_000), await beatAt(26_000)]).toEqual([false, false, false]);
  expect(await beatAt(28_000)).toBe(true);
  await presence.stop();
});

test("a node is silent once it has reported nothing for ten seconds of this node, however the database's clock is set", async () => {
  let now = 0;
  const seenAt: Record<string, number> = {};
  const nodes: Omit<NodeStore, "connected"> = {
    beat: async () => {},
    leave: async () => {},
    all: async () => ({
      nodes: Object.entries(seenAt).map(([id, at]) => ({ id, seenAt: at }) as never),
      now: 1_000_000,
    }),
  };
  const self = { id: "a", name: "a", role: "all", version: "1" } as const;
  const presence = createPresence({
    ...{ nodes, self, log: quietLog(), followTime: async () => {}, elapsed: () => now, onMoved: () => {} },
  });
  const silentAt = async (at: number, seen: Record<string, number>) => {
    now = at;
    Object.assign(seenAt, seen);
    presence.drain();
    await Bun.sleep(0);
    return presence.silent();
  };
  expect(await silentAt(0, { living: 1, killed: 1 })).toEqual([]);
  expect(await silentAt(6_000, { living: 2 })).toEqual([]);
  expect(await silentAt(10_000, { living: 3 })).toEqual(["killed"]);
  delete seenAt.killed;
  expect(await silentAt(12_000, { living: 4 })).toEqual([]);
  await presence.stop();
});

test("a node learns with its first report that the rows of its database were moved away", async () => {
  const nodes: Omit<NodeStore, "connected"> = {
    beat: async () => {},
    leave: async () => {},
    all: async () => ({ nodes: [], now: 0, movedTo: "/srv/svc-data" }),
  };
  const self = { id: "a", name: "a", role: "all", version: "1" } as const;
  const told: string[] = [];
  const presence = createPresence({
    ...{ nodes, self, log: quietLog(), followTime: async () => {}, elapsed: () => 0 },
    onMoved: (folder) => void told.push(folder),
  });
  await presence.start();
  expect(told).toEqual(["/srv/svc-data"]);
  await presence.stop();
});
