import { afterAll, describe, expect, test } from "bun:test";
import { openAudit } from "../../../src/store/postgres/audit.ts";
import { LOCKS } from "../../../src/store/postgres/locks.ts";
import {
  inTransaction,
  onBoth,
  type PostgresStore,
  stopPostgres,
  urlOfPostgres,
  withNodes,
} from "../../helpers/postgres.ts";
import { CAN_TEST_POSTGRES } from "../../helpers/postgres-database.ts";
import { ACCOUNT, accountId, addAccount, admit, endOne, NOW, taskId } from "../../helpers/store.ts";

const OTHER = accountId(2);
const numbers = Array.from({ length: 12 }, (_, i) => i + 1);
const ids = numbers.map(taskId);

/** Completed tasks of two accounts, all with one content; a later one lives. */
async function endAll(store: PostgresStore): Promise<void> {
  for (const id of [ACCOUNT, OTHER]) await addAccount(store, { id });
  for (const number of numbers) {
    await admit(store, { number, accountId: number % 2 ? ACCOUNT : OTHER });
    await endOne(store, "completed");
  }
  for (const [i, account] of [ACCOUNT, OTHER].entries())
    await admit(store, { number: 20 + i, accountId: account });
}

async function differences() {
  const audit = await openAudit({ url: await urlOfPostgres() });
  try {
    return (await audit.run()).differences;
  } finally {
    audit.stop();
  }
}

describe.skipIf(!CAN_TEST_POSTGRES)("retention of two nodes on one PostgreSQL", () => {
  afterAll(stopPostgres);

  test(
    "what both remove and sum up at once goes once, its content is told once, and the books add up",
    withNodes(async (...stores) => {
      await endAll(stores[0]);
      const told: string[] = [];
      // Who finds another one at it leaves what it found.
      for (let round = 0; round < 20; round++)
        for (const contents of await onBoth(stores, 4, ({ retention }) =>
          retention.expire(["tasks"], ids, NOW),
        ))
          told.push(...contents);
      expect(told).toEqual(["a".repeat(64)]);
      for (const id of ids) expect(await stores[1].tasks.byId(id)).toBeUndefined();
      for (let round = 0; round < 20; round++)
        await onBoth(stores, 4, ({ retention }) => retention.sumUp(ids));
      const { due } = await stores[0].retention.removed({ removedBefore: NOW + 1, limit: 99 });
      expect(due).toEqual([]);
      expect(await differences()).toEqual([]);
    }),
  );

  test(
    "while one is at it another one leaves all, and a customer's own removal goes on",
    withNodes(async (one, other) => {
      await endAll(one);
      // As the transaction of a node that removes at this moment.
      await inTransaction(`select pg_advisory_xact_lock(${LOCKS.retention})`, async () => {
        expect(await other.retention.expire(["tasks"], [taskId(1)], NOW)).toEqual([]);
        expect((await other.tasks.byId(taskId(1)))?.status).toBe("completed");
        expect(await other.retention.remove(taskId(2), NOW, OTHER)).toMatchObject({ kind: "removed" });
      });
      await other.retention.expire(["tasks"], [taskId(1)], NOW);
      expect(await one.tasks.byId(taskId(1))).toBeUndefined();
    }),
  );
});
