import { afterAll, describe, expect, test } from "bun:test";
import type { CallbackSend } from "../../../src/domain/callback/callback.ts";
import { taskError } from "../../../src/domain/errors.ts";
import type { AccountId } from "../../../src/domain/ids.ts";
import { failed } from "../../../src/domain/task/transition.ts";
import {
  inTransaction,
  onBoth,
  type PostgresStore,
  stopPostgres,
  withNodes,
} from "../../helpers/postgres.ts";
import { CAN_TEST_POSTGRES } from "../../helpers/postgres-database.ts";
import {
  ACCOUNT,
  accountId,
  addAccount,
  admit,
  callbackId,
  claimOne,
  claimQuery,
  NOW,
  newTask,
  taskId,
} from "../../helpers/store.ts";

const LEASE_MS = 20_000;
const MANY = { total: 1000, perAccount: 1000, perHost: 1000 };

async function owe(store: PostgresStore, number: number, host = "a.test", account: AccountId = ACCOUNT) {
  await admit(store, { number, accountId: account, callbackUrl: `https://${host}/${number}` });
  const lease = await claimOne(store);
  await store.tasks.apply(lease, failed(lease.task, NOW, taskError("UPSTREAM_ERROR"), callbackId(number)));
}

const claim = (
  store: PostgresStore,
  limits: Partial<typeof MANY> = {},
  now = NOW,
  underWay: CallbackSend[] = [],
) =>
  store.callbacks.claim({
    ...{ now, leaseMs: LEASE_MS, limits: { ...MANY, ...limits } },
    underWay: underWay.map(({ callback }) => callback),
  });
const numbersOf = (sends: readonly CallbackSend[]) =>
  sends.map(({ callback }) => Number(callback.id.slice(-6))).toSorted((a, b) => a - b);

describe.skipIf(!CAN_TEST_POSTGRES)("callbacks of two nodes on one PostgreSQL", () => {
  afterAll(stopPostgres);

  test(
    "a callback that both want at once is sent by one, and what one sends the other records",
    withNodes(async (...stores) => {
      await addAccount(stores[0], { id: ACCOUNT });
      const numbers = Array.from({ length: 30 }, (_, i) => i + 1);
      for (const number of numbers) await owe(stores[0], number, `${number % 3}.test`);
      const sends = (await onBoth(stores, 6, (store) => claim(store))).flat();
      expect(numbersOf(sends)).toEqual(numbers);
      expect(await stores[1].callbacks.unfinished()).toHaveLength(30);
      // Each is recorded by both: the second one changes nothing.
      await onBoth(stores, 60, ({ callbacks }, i) =>
        callbacks.record(sends[Math.floor(i / 2)]!, { kind: "delivered", status: 204 }, NOW + 1),
      );
      expect(await stores[0].callbacks.owed()).toEqual({ count: 0, oldestAt: undefined });
      expect(await stores[0].callbacks.unfinished()).toEqual([]);
    }),
  );

  test(
    "a host and an account have as many sends as they may, whichever nodes send them; a node's total is its own",
    withNodes(async (one, other) => {
      await addAccount(one, { id: ACCOUNT });
      await addAccount(one, { id: accountId(2) });
      for (const number of [1, 2, 3, 4]) await owe(one, number);
      for (const number of [5, 6]) await owe(one, number, "b.test");
      await owe(one, 7, "a.test", accountId(2));
      const first = await claim(one, { perHost: 1, perAccount: 2, total: 3 });
      expect(numbersOf(first)).toEqual([1, 5, 7]);
      expect(await claim(other, { perHost: 1, perAccount: 3 })).toEqual([]);
      expect(await claim(other, { perHost: 9, perAccount: 2 })).toEqual([]);
      // Two of the account are under way elsewhere, so it may have one more.
      expect(numbersOf(await claim(other, { perHost: 2, perAccount: 3, total: 3 }))).toHaveLength(1);
      // What a process says of its own sends counts, and nothing else of them.
      expect(await claim(one, { perHost: 9, perAccount: 9, total: 3 }, NOW, first)).toEqual([]);
      const ofB = first.find(({ callback }) => callback.id === callbackId(5));
      await other.callbacks.record(ofB!, { kind: "delivered", status: 204 }, NOW);
      expect(numbersOf(await claim(other, { perHost: 1, perAccount: 9 }))).toEqual([6]);
    }),
  );

  test(
    "a node that died has its sends taken over when their leases end, and none counts any longer",
    withNodes(async (dead, other) => {
      await addAccount(dead, { id: ACCOUNT });
      for (const number of [1, 2]) await owe(dead, number);
      expect(numbersOf(await claim(dead))).toEqual([1, 2]);
      expect(await claim(other, {}, NOW + LEASE_MS - 1)).toEqual([]);
      expect(await other.callbacks.unfinished(NOW)).toEqual([]);
      expect(await other.callbacks.unfinished(NOW + 1)).toHaveLength(2);
      const taken = await claim(other, { perHost: 2 }, NOW + LEASE_MS);
      expect(taken.map(({ sequence, callback }) => [sequence, callback.attempts])).toEqual([
        [2, 2],
        [2, 2],
      ]);
    }),
  );

  test(
    "a callback that another transaction holds is left until later, and holds up no other host",
    withNodes(async (one, other) => {
      await addAccount(one, { id: ACCOUNT });
      await owe(one, 1);
      await owe(one, 2, "b.test");
      await inTransaction(`select 1 from callback where id = '${callbackId(1)}' for update`, async () => {
        expect(numbersOf(await claim(other))).toEqual([2]);
      });
      expect(numbersOf(await claim(one))).toEqual([1]);
    }),
  );

  test(
    "a redelivery that one node grants is sent once, by either",
    withNodes(async (...stores) => {
      const [one, other] = stores;
      await addAccount(one, { id: ACCOUNT });
      await owe(one, 1);
      const [send] = await claim(one);
      await one.callbacks.record(send!, { kind: "refused", status: 500 }, NOW);
      await onBoth(stores, 4, ({ callbacks }) => callbacks.redeliver({ accountId: ACCOUNT, limit: 9 }));
      const sends = (await onBoth(stores, 4, (store) => claim(store))).flat();
      expect(sends).toMatchObject([{ sequence: 2, isRedelivery: true }]);
      expect(await other.callbacks.attempts(callbackId(1))).toHaveLength(2);
    }),
  );

  test(
    "the last tasks of a group that end on two nodes at once tell of it once",
    withNodes(async (...stores) => {
      const [one] = stores;
      await addAccount(one, { id: ACCOUNT });
      const group = { policy: "all", tasks: [1, 2].map(taskId), callbackUrl: "https://a.test/" } as const;
      for (const number of [1, 2]) await admit(one, { number, request: { ...newTask().request, group } });
      const { leases } = await one.tasks.claim(claimQuery());
      await onBoth(stores, 2, ({ tasks }, i) =>
        tasks.apply(leases[i]!, failed(leases[i]!.task, NOW, taskError("UPSTREAM_ERROR"), callbackId(i))),
      );
      const told = await one.callbacks.list({ accountId: ACCOUNT, limit: 9 });
      expect(told.map(({ event }) => event)).toEqual(["group_ended"]);
    }),
  );
});
