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
  const nodes: NodeStore = {
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
  const presence = createPresence({ nodes, self, log: quietLog(), followTime: async () => {} });
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
