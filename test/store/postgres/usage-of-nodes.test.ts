import { afterAll, describe, expect, test } from "bun:test";
import { SQL } from "bun";
import type { UsageLine, UsageQuery } from "../../../src/domain/ports/usage-store.ts";
import { type Connection, openConnection } from "../../../src/store/postgres/connection.ts";
import type { Readers } from "../../../src/store/postgres/replica.ts";
import type { Session } from "../../../src/store/postgres/session.ts";
import { createUsageReading } from "../../../src/store/postgres/usage-reading.ts";
import type { UsagePage } from "../../../src/store/sqlite/usage-pages.ts";
import { fillPages } from "../../contracts/usage-pages.ts";
import { type Asked, noting } from "../../helpers/plans.ts";
import {
  openUnruledPostgres,
  type PostgresStore,
  stopPostgres,
  urlOfPostgres,
  withNodes,
} from "../../helpers/postgres.ts";
import { CAN_TEST_POSTGRES } from "../../helpers/postgres-database.ts";
import { ACCOUNT, addAccount, admit, endOne, micros, NOW, taskId } from "../../helpers/store.ts";
import { readingOn } from "./reading-on.ts";

const ALL_DAYS = { from: 0, to: 100_000 };
const BY_PROVIDER: UsageQuery = { ...ALL_DAYS, by: "provider" };

/** What tasks, attempts and the sums of removed ones come to, added up in one go. */
const PLAIN = `select provider, sum(ended)::bigint as ended, sum(charged)::bigint as charged, sum(cost)::bigint as cost from (
    select lane as provider, 1 as ended, coalesce(charged_micros, 0) as charged, 0 as cost from task where stage = 'terminal'
    union all select provider, 0, 0, cost_micros from attempt join task on number = task_number
      where cost_micros is not null and stage = 'terminal'
    union all select provider, tasks, charged_micros, cost_micros from books_day) as each group by 1 order by 1`;

const told = (lines: readonly UsageLine[]) =>
  lines.map(({ provider, completed, failed, cancelled, charged, cost = 0 }) => ({
    provider: String(provider),
    ...{ ended: completed + failed + cancelled, charged: Number(charged), cost: Number(cost) },
  }));

/** Readers that add up in one go as well, in the same moment. */
function comparing(connection: Connection, plain: unknown[]): Readers {
  return {
    read: connection.read,
    readAtOnce: <T>(query: (session: Session) => Promise<T>) =>
      connection.readAtOnce(async (session) => {
        const result = await query(session);
        plain.push((await session.ask(PLAIN, [])).rows);
        return result;
      }),
  };
}

/** Ends tasks, removes some and sums some of them up, until it is told to stop. Each has numbers of its own. */
async function write(store: PostgresStore, first: number, isOver: () => boolean): Promise<number> {
  let number = first;
  for (; !isOver(); number += 2) {
    await admit(store, { number });
    await endOne(store, number % 3 === 0 ? "failed" : "completed", { cost: micros(number) });
    if (number > 9) await store.retention.remove(taskId(number - 8), NOW);
    if (number > 19) await store.retention.sumUp([taskId(number - 18)]);
  }
  return number;
}

describe.skipIf(!CAN_TEST_POSTGRES)("reports of usage beside other nodes", () => {
  afterAll(stopPostgres);

  test(
    "a report that keeps pages says what a plain sum of the same moment says, while two nodes write",
    withNodes(async (one, other) => {
      await addAccount(one, { id: ACCOUNT });
      const url = await urlOfPostgres();
      const [connection, sql] = [openConnection({ url }), new SQL({ url, max: 1 })];
      const plain: unknown[] = [];
      const usage = createUsageReading(connection, comparing(connection, plain));
      const kept = new Map<number, UsagePage>();
      let isOver = false;
      const writers = [write(one, 1, () => isOver), write(other, 2, () => isOver)];
      let mostKept = 0;
      for (let i = 0; i < 40; i++) {
        const { lines, first } = await usage.report(BY_PROVIDER, kept);
        expect(told(lines)).toEqual(plain.at(-1) as never);
        for await (const { pages } of usage.pages(
          () => kept,
          () => 1,
        ))
          for (const [page, read] of pages) kept.set(page, read);
        for (const page of kept.keys()) if (page < first) kept.delete(page);
        mostKept = Math.max(mostKept, kept.size);
        // A page has ten thousand numbers, which tasks would take hours to fill.
        await sql`select setval('task_number_seq', nextval('task_number_seq') + 3000)`;
      }
      isOver = true;
      const ends = await Promise.all(writers);
      expect(mostKept).toBeGreaterThan(3);
      expect(Math.min(...ends)).toBeGreaterThan(20);
      await sql.close();
      await connection.stop();
    }),
  );

  const withPages =
    (body: (url: string, connection: Connection) => Promise<void>) => async (): Promise<void> => {
      const { url, connection, store, tamper } = await openUnruledPostgres();
      await fillPages({
        ...{ store, tamper, stop: store.stop },
        numberOn: (above) => tamper(`select setval('task_number_seq', ${above})`),
      });
      await body(url, connection);
      await store.stop();
    };

  test(
    "no page is kept as long as a transaction is open that may have a number on it",
    withPages(async (url, connection) => {
      const report = readingOn(createUsageReading(connection, connection));
      const slow = new SQL({ url, max: 1 });
      await slow.unsafe("begin");
      await slow.unsafe("select pg_current_xact_id()");
      expect((await report(BY_PROVIDER)).pages.size).toBe(0);
      await slow.unsafe("commit");
      expect((await report(BY_PROVIDER)).pages.size).toBe(2);
      await slow.close();
    }),
  );

  test(
    "pages are kept while a transaction of another database is open",
    withPages(async (url, connection) => {
      const elsewhere = new SQL({ url: Object.assign(new URL(url), { pathname: "/postgres" }).href, max: 1 });
      await elsewhere.unsafe("begin");
      await elsewhere.unsafe("select pg_current_xact_id()");
      const report = readingOn(createUsageReading(connection, connection));
      expect((await report(BY_PROVIDER)).pages.size).toBe(2);
      await elsewhere.unsafe("rollback");
      await elsewhere.close();
    }),
  );

  test(
    "what was kept of a database counts no more once another one has its place",
    withPages(async (_, connection) => {
      const report = readingOn(createUsageReading(connection, connection));
      const { lines, pages } = await report(BY_PROVIDER);
      const elsewhere = new Map(
        [...pages].map(([number, page]) => [number, { ...page, history: "another", sums: "[]" }]),
      );
      const again = await report(BY_PROVIDER, elsewhere);
      expect([again.lines, [...again.pages]]).toEqual([lines, [...pages]]);
    }),
  );

  test(
    "a report has its answer before any page is read to be kept, by one statement for all of them",
    withPages(async (_, connection) => {
      const asked: Asked[] = [];
      const usage = createUsageReading(connection, {
        read: connection.read,
        readAtOnce: (query) => connection.readAtOnce((session) => query(noting(session, asked))),
      });
      await usage.report(BY_PROVIDER);
      const sums = asked.filter(({ text }) => text.includes("stage = 'terminal'"));
      expect(sums.map(({ parameters }) => parameters.slice(0, 2))).toEqual([[0, 39_999]]);
    }),
  );

  test(
    "nothing is read to be kept where there is no room",
    withPages(async (_, connection) => {
      const report = readingOn(createUsageReading(connection, connection));
      const { lines, pages } = await report(BY_PROVIDER);
      expect(pages.size).toBe(2);
      const withoutRoom = readingOn(createUsageReading(connection, connection), 0);
      expect(await withoutRoom(BY_PROVIDER)).toMatchObject({ lines, pages: new Map() });
    }),
  );
});
