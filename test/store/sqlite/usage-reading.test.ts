import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { taskError } from "../../../src/domain/errors.ts";
import type { AttemptId, LaneId } from "../../../src/domain/ids.ts";
import type { UsageQuery } from "../../../src/domain/ports/usage-store.ts";
import { failed, requeued } from "../../../src/domain/task/transition.ts";
import { openStore } from "../../../src/store/open.ts";
import { openForReading } from "../../../src/store/sqlite/connection.ts";
import type { UsagePage } from "../../../src/store/sqlite/usage-pages.ts";
import { prepareUsageReading } from "../../../src/store/usage-reading.ts";
import { migratedFile } from "../../helpers/open-store.ts";
import {
  ACCOUNT,
  addAccount,
  admit,
  attemptId,
  callbackId,
  claimOne,
  countingTokens,
  endOne,
  LANE,
  lane,
  micros,
  NOW,
  newIntent,
  taskId,
} from "../../helpers/store.ts";

const DAY_MS = 86_400_000;
/** Of a page. */
const NUMBERS = 10_000;
const LOST = attemptId(99);
const QUERIES: readonly UsageQuery[] = (
  [{ by: "provider", and: "day" }, { by: "key" }, { by: "model", and: "provider" }] as const
).map((split) => ({ from: 0, to: 100_000, ...split }));

/**
 * Tasks 1 to 4 have ended and have page 0, page 1 has none, task 6 lives on page 2, and 5 has ended on page 3. The first attempt of task 1
 * got no answer and was repeated; that of task 4 got none either.
 */
async function open() {
  const { path, remove } = migratedFile();
  const store = openStore({ path, ids: countingTokens() });
  await addAccount(store, { id: ACCOUNT });
  await admit(store, { number: 1 });
  const begin = async (id: AttemptId, at: LaneId) => {
    const lease = await claimOne(store, { limit: 1 });
    await store.tasks.begin(lease, newIntent({ id, lane: at }));
    return lease;
  };
  const again = requeued(NOW, { dueAt: NOW, failures: 0, lane: LANE, routeIndex: 0 });
  const repeated = { id: attemptId(98), state: "ambiguous" } as const;
  await store.tasks.apply(await begin(repeated.id, lane("other")), { ...again, attempt: repeated });
  await endOne(store, "completed", { cost: micros(7) });
  await admit(store, { number: 2 });
  await endOne(store, "completed", { at: NOW + DAY_MS, outputs: 2, cost: micros(5) });
  await admit(store, { number: 3 });
  await endOne(store, "cancelled");
  await admit(store, { number: 4 });
  const lease = await begin(LOST, LANE);
  const unknown = taskError("OUTCOME_UNKNOWN");
  await store.tasks.apply(
    lease,
    failed(lease.task, NOW, unknown, callbackId(4), { id: LOST, state: "ambiguous" }),
  );
  await admit(store, { number: 5 });
  await endOne(store, "failed");
  await admit(store, { number: 6 });
  const db = new Database(path);
  for (const [number, page] of [
    [5, 3],
    [6, 2],
  ] as const) {
    const of = `(select number from task where id = '${taskId(number)}')`;
    for (const table of ["attempt", "asset"])
      db.run(`update ${table} set task_number = ${page * NUMBERS} where task_number = ${of}`);
    db.run("drop trigger if exists task_end_is_final");
    db.run(`update task set number = ${page * NUMBERS} where id = '${taskId(number)}'`);
  }
  db.close();
  const reader = openForReading(path);
  return {
    ...{ store, reader },
    now: () => Promise.all(QUERIES.map(store.usage.report)),
    async [Symbol.asyncDispose]() {
      reader.stop();
      await store.stop();
      remove();
    },
  };
}

type Opened = Awaited<ReturnType<typeof open>>;

const CHANGES: readonly (readonly [string, (opened: Opened) => Promise<unknown>])[] = [
  ["a cancelled task is removed", ({ store }) => store.retention.remove(taskId(3), NOW)],
  [
    "rows become sums",
    async ({ store }) => {
      await store.retention.remove(taskId(3), NOW);
      await store.retention.sumUp([taskId(3)]);
    },
  ],
  ["a task ends", ({ store }) => endOne(store, "completed", { cost: micros(9) })],
  [
    "a task comes and ends",
    async ({ store }) => {
      await endOne(store, "failed");
      await admit(store, { number: 7 });
      await endOne(store, "completed");
    },
  ],
  [
    "a lost attempt had a cost",
    ({ store }) => store.tasks.settleLost(LOST, { state: "done", costMicros: micros(3), detail: "" }),
  ],
];

test.each(CHANGES)("a report says what is true in one moment, whenever %s", async (_, change) => {
  for (let before = 0, isChanged = true; isChanged; before += 1) {
    await using opened = await open();
    let pauses = 0;
    const report = prepareUsageReading(opened.reader, async () => {
      if (pauses === before) await change(opened);
      pauses += 1;
    });
    const [first = { from: 0, to: 0, by: "day" }] = QUERIES;
    const { lines } = await report(first);
    isChanged = pauses > before;
    expect(lines).toEqual(await opened.store.usage.report(first));
    expect(before).toBeLessThan(9);
  }
});

test.each(CHANGES)("what was kept of pages counts no more where %s", async (_, change) => {
  await using opened = await open();
  const report = prepareUsageReading(opened.reader, async () => {});
  const kept = new Map<number, UsagePage>();
  const reportAll = () =>
    Promise.all(
      QUERIES.map(async (query) => {
        const { lines, pages } = await report(query, kept);
        for (const [number, page] of pages) kept.set(number, page);
        return lines;
      }),
    );
  const before = await opened.now();
  expect(await reportAll()).toEqual(before);
  expect([...kept.keys()]).toEqual([0, 1]);
  await change(opened);
  expect(await reportAll()).toEqual(await opened.now());
});

test("pages that were kept are not read again", async () => {
  await using opened = await open();
  const report = prepareUsageReading(opened.reader, async () => {});
  const [query = { from: 0, to: 0, by: "day" }] = QUERIES;
  const { lines, pages } = await report(query);
  const again = await report(query, pages);
  expect([again.lines, again.pages.size]).toEqual([lines, 0]);
  const nothing = new Map([...pages].map(([number, page]) => [number, { ...page, sums: "[]" }]));
  const [other] = (await report(query, nothing)).lines;
  expect(other).toMatchObject({ completed: 0, failed: 1 });
});
