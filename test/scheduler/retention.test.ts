import { expect, test } from "bun:test";
import type { TaskId } from "../../src/domain/ids.ts";
import type { ExpiryQuery, KeptKind, Removed, RemovedQuery } from "../../src/domain/ports/retention-store.ts";
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

/** Removed tasks of which those with an odd number may become sums. */
function createSums(count: number) {
  const queries: RemovedQuery[] = [];
  const summed: number[][] = [];
  const there = new Set(Array.from({ length: count }, (_, i) => i + 1));
  return {
    queries,
    summed,
    async removed(query: RemovedQuery): Promise<Removed> {
      queries.push(query);
      const { after = { number: 0 }, limit } = query;
      const page = [...there].filter((number) => number > after.number).slice(0, limit);
      const last = page.length < limit ? undefined : page.at(-1);
      return {
        due: page.filter((number) => number % 2 === 1).map((number) => `task_${number}` as TaskId),
        place: last === undefined ? undefined : { at: NOW, number: last },
      };
    },
    async sumUp(ids: readonly TaskId[]) {
      const numbers = ids.map((id) => Number(id.slice("task_".length)));
      summed.push(numbers);
      for (const number of numbers) there.delete(number);
    },
  };
}

function retentionOf(
  store: ReturnType<typeof createStore>,
  keptMs: Partial<Record<KeptKind, number>>,
  {
    sums = createSums(0),
    booksMs,
    expired = [],
  }: { sums?: ReturnType<typeof createSums>; booksMs?: number; expired?: string[] } = {},
) {
  const removed: string[] = [];
  const retention = { expired: store.expired_, filesDue: store.filesDue, expire: store.expire, ...sums };
  const removeContents = async (contents: readonly string[]) => removed.push(...contents);
  return {
    ...createRetention({
      retention,
      uploads: {
        expire: async (_now, limit) => {
          const contents = expired.splice(0, limit);
          return { files: contents.length, contents };
        },
      },
      removeContents,
      clock,
      log: quiet,
      keptMs: () => keptMs,
      booksMs: () => booksMs,
    }),
    removed,
  };
}

test("uploaded files that have expired go with their contents, a few at a time until there are none", async () => {
  const expired = Array.from({ length: 25 }, (_, number) => `content ${number}`);
  const all = [...expired];
  const { tick, removed } = retentionOf(createStore([]), {}, { expired });
  await tick();
  expect(removed).toEqual(all);
});

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

test("removed tasks become sums a few at a time, each is looked at once, and those that must stay are passed over", async () => {
  const sums = createSums(120);
  const { tick } = retentionOf(createStore([]), {}, { sums, booksMs: 1000 });
  await tick();
  expect(sums.summed.flat()).toEqual(Array.from({ length: 60 }, (_, i) => i * 2 + 1));
  expect(Math.max(...sums.summed.map((ids) => ids.length))).toBe(10);
  expect(sums.queries.map(({ after }) => after?.number)).toEqual([undefined, 50, 100]);
  expect(sums.queries[0]?.removedBefore).toBe(NOW - 1000);
});

test("without the setting no task becomes part of a sum", async () => {
  const sums = createSums(3);
  await retentionOf(createStore([]), {}, { sums }).tick();
  expect(sums.queries).toEqual([]);
});
