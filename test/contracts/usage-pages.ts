import { describe, expect, test } from "bun:test";
import { taskError } from "../../src/domain/errors.ts";
import type { AttemptId, LaneId } from "../../src/domain/ids.ts";
import type { UsageQuery } from "../../src/domain/ports/usage-store.ts";
import { failed, requeued } from "../../src/domain/task/transition.ts";
import type { UsagePage } from "../../src/store/sqlite/usage-pages.ts";
import type { ReadUsage } from "../../src/store/usage-reading.ts";
import {
  ACCOUNT,
  accountId,
  addAccount,
  admit,
  attemptId,
  callbackId,
  claimOne,
  endOne,
  LANE,
  lane,
  micros,
  NOW,
  newIntent,
  type StoreUnderTest,
  taskId,
} from "../helpers/store.ts";

/** A store, and reports of its usage that keep what pages come to. */
export interface ReadStore {
  readonly store: StoreUnderTest;
  readonly report: ReadUsage;
  /** Writes what no port would, with none of the rules that the database keeps. */
  tamper(...statements: readonly string[]): Promise<void>;
  /** Has the next task be numbered above. */
  numberOn(above: number): Promise<void>;
  stop(): Promise<void>;
}

const DAY_MS = 86_400_000;
/** Of a page. */
const NUMBERS = 10_000;
const LOST = attemptId(99);
const ALL_DAYS = { from: 0, to: 100_000 };
const FIRST: UsageQuery = { ...ALL_DAYS, by: "provider", and: "day" };
export const QUERIES: readonly UsageQuery[] = [
  FIRST,
  { ...ALL_DAYS, by: "key" },
  { ...ALL_DAYS, by: "model", and: "provider" },
  { ...ALL_DAYS, by: "account", accountId: ACCOUNT },
  { ...ALL_DAYS, by: "provider", accountId: accountId(2) },
];

/**
 * Tasks 1 to 4 have ended and have page 0, page 1 has none, task 6 lives on page 2, and 5 has ended on page 3. The first attempt of task 1
 * got no answer and was repeated; that of task 4 got none either.
 */
export async function fillPages({ store, tamper, numberOn }: Omit<ReadStore, "report">): Promise<void> {
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
  const moved = [
    [5, 3],
    [6, 2],
  ].flatMap(([number = 0, page = 0]) => {
    const of = `(select number from task where id = '${taskId(number)}')`;
    return [
      ...["attempt", "asset", "ledger_entry"].map(
        (table) => `update ${table} set task_number = ${page * NUMBERS} where task_number = ${of}`,
      ),
      `update task set number = ${page * NUMBERS} where id = '${taskId(number)}'`,
    ];
  });
  await tamper(...moved);
  await numberOn(3 * NUMBERS);
}

/** What becomes of tasks on pages that were kept, and of others. */
export const CHANGES: readonly (readonly [string, (store: StoreUnderTest) => Promise<unknown>])[] = [
  ["a cancelled task is removed", (store) => store.retention.remove(taskId(3), NOW)],
  [
    "rows become sums",
    async (store) => {
      await store.retention.remove(taskId(3), NOW);
      await store.retention.sumUp([taskId(3)]);
    },
  ],
  ["a task ends", (store) => endOne(store, "completed", { cost: micros(9) })],
  [
    "a task comes and ends",
    async (store) => {
      await endOne(store, "failed");
      await admit(store, { number: 7 });
      await endOne(store, "completed");
    },
  ],
  [
    "a lost attempt had a cost",
    (store) => store.tasks.settleLost(LOST, { state: "done", costMicros: micros(3), detail: "" }),
  ],
];

/** Reads reports as a server does, which keeps what each has read of pages. */
function keeping(report: ReadUsage) {
  const kept = new Map<number, UsagePage>();
  return {
    kept,
    all: async () => {
      const reports = [];
      for (const query of QUERIES) {
        const { lines, pages } = await report(query, kept);
        for (const [number, page] of pages) kept.set(number, page);
        reports.push(lines);
      }
      return reports;
    },
  };
}

/** What every reading of usage does that keeps pages. */
export function describeUsagePages(name: string, open: () => Promise<ReadStore>): void {
  const withPages = (body: (read: ReadStore) => Promise<void>) => async () => {
    const read = await open();
    try {
      await fillPages(read);
      await body(read);
    } finally {
      await read.stop();
    }
  };
  const now = ({ usage }: StoreUnderTest) => Promise.all(QUERIES.map(usage.report));

  describe(name, () => {
    test.each(CHANGES)("what was kept of pages counts no more where %s", (_, change) =>
      withPages(async ({ store, report }) => {
        const { kept, all } = keeping(report);
        const before = await now(store);
        expect(await all()).toEqual(before);
        expect([...kept.keys()].toSorted()).toEqual([0, 1]);
        await change(store);
        expect(await all()).toEqual(await now(store));
      })(),
    );

    test(
      "pages that were kept are not read again",
      withPages(async ({ report }) => {
        const { lines, pages } = await report(FIRST);
        const again = await report(FIRST, pages);
        expect([again.lines, again.pages.size]).toEqual([lines, 0]);
        const nothing = new Map([...pages].map(([number, page]) => [number, { ...page, sums: "[]" }]));
        const [other] = (await report(FIRST, nothing)).lines;
        expect(other).toMatchObject({ completed: 0, failed: 1 });
      }),
    );

    test(
      "sums that no number holds are told exactly",
      withPages(async ({ store, report, tamper }) => {
        const large = Number.MAX_SAFE_INTEGER;
        await tamper(`update task set charged_micros = ${large} where status = 'completed'`);
        const { lines } = await report({ ...ALL_DAYS, by: "provider" });
        expect(lines.map(({ charged }) => BigInt(charged))).toContain(2n * BigInt(large));
        expect(lines).toEqual(await store.usage.report({ ...ALL_DAYS, by: "provider" }));
      }),
    );
  });
}
