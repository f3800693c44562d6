import { expect, test } from "bun:test";
import type { TaskId } from "../../src/domain/ids.ts";
import type { ExpiryQuery, KeptKind } from "../../src/domain/ports/retention-store.ts";
import type { Log } from "../../src/domain/ports/runtime.ts";
import { createRetention } from "../../src/scheduler/retention.ts";

const quiet: Log = { debug() {}, info() {}, warn() {}, error() {} };
const NOW = 1_000_000;

/** A clock whose waits end at once. */
const clock = {
  now: () => NOW,
  elapsed: () => 0,
  after: (_ms: number, then: () => void) => {
    queueMicrotask(then);
    return () => {};
  },
};

/** As many tasks as told, by their place; `ended` has when each one ended, and those in `gone` have nothing left. */
function createStore(ended: readonly number[], own: readonly TaskId[] = []) {
  const asked: ExpiryQuery[] = [];
  const expired: [readonly KeptKind[], number][] = [];
  const gone = new Set<string>();
  const waiting = [...own];
  const idOf = (place: number) => `task_${place}` as TaskId;
  return {
    ...{ asked, expired, gone },
    async expired_(query: ExpiryQuery) {
      asked.push(query);
      const places = ended.map((_, i) => i + 1).filter((place) => place > query.after);
      const page = places.slice(0, query.limit);
      const due = page.filter((place) => ended[place - 1]! < query.endedBefore && !gone.has(idOf(place)));
      const open = page.find((place) => !gone.has(idOf(place)));
      const finished = open === undefined ? (page.at(-1) ?? query.after) : open - 1;
      return { due: due.map(idOf), finished, place: page.at(-1) };
    },
    async filesDue(_now: number, limit: number) {
      return waiting.slice(0, limit);
    },
    async expire(kinds: readonly KeptKind[], ids: readonly TaskId[]) {
      expired.push([kinds, ids.length]);
      for (const id of ids) {
        gone.add(id);
        if (waiting.includes(id)) waiting.splice(waiting.indexOf(id), 1);
      }
      return ids.map((id) => `content of ${id}`);
    },
  };
}

function retentionOf(store: ReturnType<typeof createStore>, keptMs: Partial<Record<KeptKind, number>>) {
  const removed: string[] = [];
  const retention = { expired: store.expired_, filesDue: store.filesDue, expire: store.expire };
  const removeContents = async (contents: readonly string[]) => removed.push(...contents);
  return {
    ...createRetention({ retention, removeContents, clock, log: quiet, keptMs: () => keptMs }),
    removed,
  };
}

test("what is due goes a few at a time with its files, and nothing is looked at twice", async () => {
  const store = createStore(Array.from({ length: 120 }, () => NOW - 5000));
  const { tick, removed } = retentionOf(store, { tasks: 1000 });
  await tick();
  expect(removed).toHaveLength(120);
  expect(Math.max(...store.expired.map(([, count]) => count))).toBe(10);
  store.asked.length = 0;
  await tick();
  await tick();
  const walks = store.asked.filter(({ kind }) => kind === "tasks");
  expect(walks.at(-1)).toMatchObject({ after: 120, endedBefore: NOW - 1000 });
});

test("without a setting nothing is due of a kind, and what is not due yet is looked at again", async () => {
  const store = createStore([NOW - 5000, NOW - 10, NOW - 5000]);
  const { tick, removed } = retentionOf(store, { outputs: 1000 });
  await tick();
  expect(removed).toEqual(["content of task_1", "content of task_3"]);
  expect(store.asked.filter(({ kind }) => kind === "inputs")[0]?.endedBefore).toBe(0);
  store.asked.length = 0;
  await tick();
  expect(store.asked.find(({ kind }) => kind === "outputs")?.after).toBe(0);
});

test("files with a time of their own go with their inputs, all that are due", async () => {
  const own = Array.from({ length: 25 }, (_, i) => `task_own${i}` as TaskId);
  const store = createStore([], own);
  const { tick, removed } = retentionOf(store, {});
  await tick();
  expect(removed).toHaveLength(25);
  expect(store.expired.every(([kinds]) => kinds.join() === "outputs,inputs")).toBe(true);
});
