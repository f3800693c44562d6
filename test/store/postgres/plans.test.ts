import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { SQL } from "bun";
import type {
  AccountId,
  AssetId,
  AttemptId,
  KeyId,
  LaneId,
  ModelId,
  TaskId,
} from "../../../src/domain/ids.ts";
import { type Connection, openConnection } from "../../../src/store/postgres/connection.ts";
import { createLabels } from "../../../src/store/postgres/labels.ts";
import { quotaUses } from "../../../src/store/postgres/quota-allowance.ts";
import { createRetentionStore } from "../../../src/store/postgres/retention-store.ts";
import { createSearchStore } from "../../../src/store/postgres/search-store.ts";
import { prepareList } from "../../../src/store/postgres/task-store/list.ts";
import { managedTasks } from "../../../src/store/postgres/task-store/managed.ts";
import { prepareNearest } from "../../../src/store/postgres/task-store/nearest.ts";
import { createTaskReads } from "../../../src/store/postgres/task-store/task-reads.ts";
import { createUsageStore } from "../../../src/store/postgres/usage-store.ts";
import { type Asked, noting, walkedBy } from "../../helpers/plans.ts";
import { openEmptyPostgres, removePostgres, urlOfPostgres } from "../../helpers/postgres.ts";
import { CAN_TEST_POSTGRES } from "../../helpers/postgres-database.ts";
import { MODELS, SEEDED, seed } from "./seeded.ts";

/** Tables that an operator fills by hand, or that have one row. */
const FEW = [
  "account",
  "api_key",
  "search_state",
  "lane_row",
  "lane_turn",
  "task_change_number",
  "task_number_seq",
  "pg_database",
];

/** The most rows of tables that a statement reads, and sorts at once: a few pages. */
const MOST = { read: 3_000, sorted: 600 };

/** Parts of statements that may read more, and why; without scans where it says how much. */
const ALLOWED: readonly (readonly [part: string, why: string, most?: number])[] = [
  ["found.id from head", "Reads in an index, of each group of a list, as many ids as a page has.", 20_000],
  ["terms && $2", "Reads what some slices have of the words, and stops where it has found enough."],
  ["sync_scope is not null", "Reads what is live once, at a start."],
  ['as "underWay"', "Counts what is live, in indexes."],
  ["as processing", "Counts an account's live tasks in an index."],
  ["pool <> 'under_way'", "Counts what is live, in indexes."],
  ["sum(under_way)", "Counts what is live, in indexes, when somebody looks at the overview."],
  ["stage = 'terminal'", "Sums up every task that ended, for a report."],
  ["from books_day", "Adds the sums of removed tasks to what a report has read, by day."],
  ["from audit_seal", "Reads what retention changed: a number for each page of ten thousand tasks."],
  ["from usage_day", "Sums up days, of which there are few beside the tasks."],
  ["as refunded", "Reads one entry in an index, where the ledger has more than the none of this database."],
  ["from attempt where cost_micros", "Reads as many attempts as it says, in their index."],
];

const numbered = <Id extends string>(kind: string, number: number) =>
  `${kind}_${String(number).padStart(12, "0")}` as Id;
const task = (number: number) => numbered<TaskId>("task", number);
const account = numbered<AccountId>("acct", 3);
const lane = "lane-1" as LaneId;

/** A connection that notes the statements of its reads and writes. */
function notingConnection(connection: Connection, asked: Asked[]): Connection {
  return {
    ...connection,
    read: (query) => connection.read((session) => query(noting(session, asked))),
    readAtOnce: (query) => connection.readAtOnce((session) => query(noting(session, asked))),
    write: (operation, options) => connection.write((session) => operation(noting(session, asked)), options),
  };
}

/** Asks everything that is read of tasks, as often as it is asked in another way. */
async function askAll(connection: Connection): Promise<void> {
  const tasks = createTaskReads(connection);
  const queued = task(SEEDED.tasks - 3);
  const ended = await tasks.summary(task(40_001));
  if (ended === undefined) throw new Error("The database is not seeded.");
  await Promise.all([
    tasks.byId(task(7)),
    tasks.requestOf(ended),
    tasks.attempts(task(8)),
    tasks.story(task(9)),
  ]);
  await tasks.attempt(numbered<AttemptId>("attempt", 6));
  await tasks.assetById(numbered<AssetId>("asset", 5));
  await tasks.family(task(1_000), account, { limit: 50 });
  await tasks.groups(account, { limit: 50 });
  const limit = 100;
  for (const order of ["newest", "oldest"] as const)
    for (const status of [undefined, "completed", "pending"] as const)
      for (const model of [undefined, "model-5" as ModelId, "none" as ModelId]) {
        await tasks.list({ accountId: account, status, model, limit }, order);
        if (order === "newest") await tasks.managedTasks({ status, model, limit, after: task(150_000) });
      }
  for (const text of ["picture", "lighthouse 40", "nothing"])
    for (const status of [undefined, "failed"] as const)
      await tasks.managedTasks({ text, status, limit: 20, after: task(190_000) });
  await Promise.all([
    tasks.ownReady(lane, account, 100),
    tasks.queuedLanes(),
    tasks.laneCounts(),
    tasks.lanes(),
  ]);
  await Promise.all([tasks.queuePosition(queued), tasks.queuePosition(task(SEEDED.tasks - 3_900))]);
  await Promise.all([tasks.counts(), tasks.liveCounts(account), tasks.recentEndings(0)]);
  for (const after of [0, 199_000, SEEDED.tasks]) {
    await tasks.changes({ accountId: account, after, limit: 100 });
    await tasks.managedChanges({ after, limit: 100 });
  }
  await Promise.all([tasks.latestChange(account), tasks.latestManagedChange()]);
  await Promise.all([tasks.timed(), tasks.races(), tasks.orphans()]);
  const usage = createUsageStore(connection);
  const key = numbered<KeyId>("key", 34);
  await Promise.all([
    usage.days(account, 1, 30),
    usage.chargedTo(account, key),
    usage.chargedSince([{ id: key, accountId: account }], 170),
    usage.liveTasks(account, key, 9),
  ]);
  const asked = Array.from({ length: 10 }, (_, i) => ({ id: numbered<KeyId>("key", i + 34), period: 1 }));
  await connection.read((session) => quotaUses(session, asked));
  for (const by of ["provider", "model"] as const)
    await usage.report({ from: 0, to: 9, by, accountId: account });
  await Promise.all([usage.spentSince(100_000), usage.recentDurations(200)]);
  await createSearchStore(connection).index(20);
  const retention = createRetentionStore(connection, createLabels(connection.driver));
  const due = { endedBefore: 0, now: 0, after: 100_000, limit: 50 };
  for (const kind of ["outputs", "inputs", "callbacks", "tasks"] as const)
    await retention.expired({ ...due, kind });
}

describe.skipIf(!CAN_TEST_POSTGRES)("statements that read tasks, where there are many", () => {
  const asked: Asked[] = [];
  let connection: Connection;
  let sql: SQL;

  beforeAll(async () => {
    await removePostgres();
    await (await openEmptyPostgres()).stop();
    const url = await urlOfPostgres();
    connection = openConnection({ url });
    await connection.write(seed);
    sql = new SQL({ url, max: 1 });
    await sql.unsafe("vacuum analyze");
    await askAll(notingConnection(connection, asked));
  }, 300_000);
  afterAll(async () => {
    await connection.stop();
    await sql.close();
    await removePostgres();
  });

  test("find a page of all accounts among the newest tasks, without a look at each group", async () => {
    const listed: Asked[] = [];
    const { read } = notingConnection(connection, listed);
    for (const after of [undefined, task(150_000)])
      for (const status of [undefined, "completed"] as const)
        if (after !== undefined || status === undefined) {
          const page = await read((session) => managedTasks(session, { after, status, limit: 100 }));
          expect(page.tasks).toHaveLength(100);
        }
    expect(listed.map(({ text }) => text.includes("as near"))).toEqual([true, true, true]);
  });

  test("find the same page among the newest tasks as in the groups", async () => {
    const [nearest, list] = [prepareNearest<{ id: string }>("id"), prepareList<{ id: string }>("id")];
    const nearby = task(SEEDED.tasks - SEEDED.queued + 7);
    for (const after of [undefined, task(150_000), nearby])
      for (const status of [undefined, "completed", "pending"] as const)
        for (const kind of [undefined, "video"] as const) {
          const listing = { after, status, kind, limit: 20 };
          const near = await connection.read((session) => nearest(session, listing));
          const groups = await connection.read((session) => list(session, listing));
          // Further on than it looks, it finds no page, and says so.
          const isFar = groups.length < 20 || (status === "completed" && after === undefined);
          expect(near).toEqual(isFar ? undefined : groups);
        }
  });

  test("find that no live task is left without a look at each key", async () => {
    const listed: Asked[] = [];
    const list = prepareList<{ id: string }>("id");
    const after = task(SEEDED.tasks - SEEDED.queued - SEEDED.underWay);
    const page = await notingConnection(connection, listed).read((session) =>
      list(session, { after, status: "pending", limit: 20 }),
    );
    expect(page).toEqual([]);
    const [asked] = listed;
    if (asked === undefined) throw new Error("Nothing was asked.");
    // Two seeks for each kind and model.
    const { read } = await walkedBy(sql, asked, "generic", FEW);
    expect(read).toBeLessThan(5 * 2 * MODELS);
  });

  test("sum up tasks for a report before they name accounts, keys and models", async () => {
    const reported: Asked[] = [];
    const usage = createUsageStore(notingConnection(connection, reported));
    for (const by of ["provider", "model"] as const) await usage.report({ from: 0, to: 9, by });
    const sums = reported.filter(({ text }) => text.includes("stage = 'terminal'"));
    // One for each report: the lines, costs and repeats are made of what it returns.
    expect(sums.length).toBe(2);
    for (const each of sums) {
      // What is left to read beside the tasks themselves: names of a few thousand lines, not of each task.
      const { read } = await walkedBy(sql, each, "generic", ["task", "attempt"]);
      expect(read).toBeLessThan(20_000);
    }
  });

  for (const kind of ["custom", "generic"] as const)
    test(`stop at a limit and sort no more than a page, with a ${kind} plan`, async () => {
      const walks: string[] = [];
      const used = new Set<string>();
      const selects = asked.filter(({ text }) => /^(select|with)\b/.test(text));
      expect(selects.length).toBeGreaterThan(50);
      for (const each of selects) {
        const { scanned, read, sorted } = await walkedBy(sql, each, kind, FEW);
        if (scanned.length === 0 && read <= MOST.read && sorted <= MOST.sorted) continue;
        const allowed = ALLOWED.find(
          ([part, , most]) =>
            each.text.includes(part) &&
            (most === undefined || (scanned.length === 0 && read <= most && sorted <= MOST.sorted)),
        );
        if (allowed === undefined)
          walks.push(
            `${[...scanned, read, sorted].join(" ")}: ${JSON.stringify(each.parameters)} ${each.text}`,
          );
        else used.add(allowed[0]);
      }
      expect(walks).toEqual([]);
    }, 300_000);
});
