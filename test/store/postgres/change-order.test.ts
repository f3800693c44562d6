import { afterAll, describe, expect, test } from "bun:test";
import type { AccountId, TaskId } from "../../../src/domain/ids.ts";
import { openConnection } from "../../../src/store/postgres/connection.ts";
import type { Parameter } from "../../../src/store/postgres/session.ts";
import {
  openAnotherPostgres,
  openEmptyPostgres,
  type PostgresStore,
  stopPostgres,
  urlOfPostgres,
} from "../../helpers/postgres.ts";
import { CAN_TEST_POSTGRES } from "../../helpers/postgres-database.ts";
import { accountId, bySystem, micros, NOW, newTask, taskId } from "../../helpers/store.ts";

const [ONE, OTHER] = [accountId(1), accountId(2)];

/** A store with two accounts and a task of each, and what writes to it as another process does. */
async function withOthers(body: (store: PostgresStore, others: Others) => Promise<void>): Promise<void> {
  const store = await openEmptyPostgres();
  const others = openConnection({ url: await urlOfPostgres() });
  try {
    for (const id of [ONE, OTHER])
      await store.accounts.createAccount(
        { id, name: id, mode: "unlimited", credit: micros(0), createdAt: NOW },
        bySystem(),
      );
    await create(store, 1, ONE);
    await create(store, 2, OTHER);
    await body(store, others);
  } finally {
    await others.stop();
    await store.stop();
  }
}

type Others = ReturnType<typeof openConnection>;

async function create(store: PostgresStore, number: number, of: AccountId) {
  const request = { ...newTask().request, prompt: "a lighthouse" };
  await store.tasks.admit({ task: newTask({ number, accountId: of, request }), assets: [] });
}

/** A write that has drawn a number and does not end before it is told. */
function delayed(others: Others, of: AccountId, text: string, ...parameters: readonly Parameter[]) {
  const [drawn, gate] = [Promise.withResolvers<number>(), Promise.withResolvers<void>()];
  const written = others.writeFor(of, async (session) => {
    const { rows } = await session.ask(text, parameters);
    drawn.resolve(Number(rows[0]?.number));
    await gate.promise;
  });
  const end = async () => {
    gate.resolve();
    await written;
  };
  return { drawn: drawn.promise, end };
}

const change = (others: Others, of: AccountId, id: TaskId) =>
  delayed(
    others,
    of,
    "update task set change = nextval('task_change_number') where id = $1 returning change as number",
    id,
  );

/** A create as `admit` makes it, of a task like another one. */
const slowCreate = (others: Others, of: AccountId, id: TaskId) =>
  delayed(
    others,
    of,
    `insert into task select (json_populate_record(task, json_build_object('id', $1::text,
       'number', nextval('task_number_seq'), 'change', nextval('task_change_number')))).*
     from task where account_number = (select number from account where id = $2) limit 1 returning number`,
    ...[id, of],
  );

describe.skipIf(!CAN_TEST_POSTGRES)("numbers that are drawn before others and committed after them", () => {
  afterAll(stopPostgres);

  test("a reader of all accounts passes over no change that is committed later", () =>
    withOthers(async (store, others) => {
      const after = await store.tasks.latestManagedChange();
      const seen = async () => {
        const changes = await store.tasks.managedChanges({ after, limit: 9 });
        return changes.map(({ number, task }) => [number, task.id]);
      };
      const early = change(others, ONE, taskId(1));
      const first = await early.drawn;
      const late = change(others, OTHER, taskId(2));
      const second = await late.drawn;
      expect(second).toBeGreaterThan(first);
      await late.end();
      expect([await seen(), await store.tasks.latestManagedChange()]).toEqual([[], after]);
      await early.end();
      expect(await seen()).toEqual([
        [first, taskId(1)],
        [second, taskId(2)],
      ]);
      expect(await store.tasks.latestManagedChange()).toBe(second);
    }));

  test("changes of one account are drawn in the order in which they are committed", () =>
    withOthers(async (store, others) => {
      await create(store, 3, ONE);
      const after = await store.tasks.latestChange(ONE);
      const another = openConnection({ url: await urlOfPostgres() });
      const early = change(others, ONE, taskId(1));
      const first = await early.drawn;
      const late = change(another, ONE, taskId(3));
      await waitsForLock(others);
      expect(await store.tasks.changes({ accountId: ONE, after, limit: 9 })).toEqual([]);
      await early.end();
      expect(await late.drawn).toBeGreaterThan(first);
      await late.end();
      await another.stop();
      const changes = await store.tasks.changes({ accountId: ONE, after, limit: 9 });
      expect(changes.map(({ task }) => task.id)).toEqual([taskId(1), taskId(3)]);
    }));

  test("a prompt is indexed though its create is committed after a later one", () =>
    withOthers(async (store, others) => {
      expect(await store.search.index(9)).toBe(2);
      const early = slowCreate(others, ONE, taskId(4));
      await early.drawn;
      await create(store, 5, OTHER);
      await store.search.index(9);
      await early.end();
      await store.search.index(9);
      const { tasks } = await store.tasks.managedTasks({ limit: 9, text: "lighthouse" });
      expect(tasks.map(({ id }) => id)).toEqual([5, 4, 2, 1].map(taskId));
    }));

  test("several nodes that index at once index each prompt once", () =>
    withOthers(async (store) => {
      for (let number = 3; number <= 40; number += 1) await create(store, number, OTHER);
      const node = await openAnotherPostgres();
      let indexed = 0;
      while (indexed < 40)
        for (const count of await Promise.all([store.search.index(5), node.search.index(5)]))
          indexed += count;
      await node.stop();
      expect([indexed, await store.search.index(5)]).toEqual([40, 0]);
      const { tasks } = await store.tasks.managedTasks({ limit: 99, text: "lighthouse" });
      expect(tasks).toHaveLength(40);
    }));
});

/** Resolves once a transaction waits for another one. */
async function waitsForLock(others: Others): Promise<void> {
  const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  while ((await others.read((session) => session.ask(waiting, []))).rows.length === 0) await Bun.sleep(5);
}
