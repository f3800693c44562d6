import { afterAll, describe, expect, test } from "bun:test";
import { onBoth, type PostgresStore, stopPostgres, withNodes } from "../../helpers/postgres.ts";
import { CAN_TEST_POSTGRES } from "../../helpers/postgres-database.ts";
import {
  accountId,
  addAccount,
  admit,
  byHand,
  bySystem,
  endOne,
  micros,
  NOW,
  newKey,
  taskId,
} from "../../helpers/store.ts";

const newAccount = (number: number, name = `account ${number}`) =>
  ({ id: accountId(number), name, mode: "prepaid", credit: micros(5), createdAt: NOW }) as const;

describe.skipIf(!CAN_TEST_POSTGRES)("accounts of two nodes on one PostgreSQL", () => {
  afterAll(stopPostgres);

  test(
    "a name is taken once, whoever creates it at the same time",
    withNodes(async (...stores) => {
      const results = await onBoth(stores, 10, ({ accounts }, i) =>
        accounts.createAccount(newAccount(i + 1, "studio"), bySystem()),
      );
      expect(results.filter((result) => result === "created")).toHaveLength(1);
      const [account, ...others] = await stores[0].accounts.accounts({ limit: 100 });
      expect(others).toEqual([]);
      expect(account).toMatchObject({ name: "studio", balance: 5 });
      expect(await stores[1].accounts.ledger(account!.id)).toHaveLength(1);
    }),
  );

  test(
    "a key's name is taken once in its account",
    withNodes(async (...stores) => {
      await stores[0].accounts.createAccount(newAccount(1), bySystem());
      const results = await onBoth(stores, 10, ({ accounts }, i) =>
        accounts.createKey(
          newKey({ number: i + 1, name: "web", accountId: accountId(1) }),
          undefined,
          bySystem(),
        ),
      );
      expect(results.filter((result) => result === "created")).toHaveLength(1);
    }),
  );

  test(
    "the first account is created once, with its key",
    withNodes(async (...stores) => {
      const results = await onBoth(stores, 10, ({ accounts }, i) =>
        accounts.createFirst(
          newAccount(i + 1),
          newKey({ number: i + 1, accountId: accountId(i + 1) }),
          bySystem(),
        ),
      );
      expect(results.filter((result) => result === "created")).toHaveLength(1);
      expect(await stores[0].accounts.accounts({ limit: 100 })).toHaveLength(1);
      expect(await stores[1].accounts.keys({ limit: 100 })).toHaveLength(1);
    }),
  );

  test(
    "credits of both are all counted, and one with an idempotency key once",
    withNodes(async (...stores) => {
      const { id } = newAccount(1);
      await stores[0].accounts.createAccount(newAccount(1), bySystem());
      const credit = (store: PostgresStore, key?: string) =>
        store.accounts.credit(id, micros(10), "invoice 1", byHand(NOW), key);
      const results = await onBoth(stores, 20, (store, i) => credit(store, i < 10 ? "key" : undefined));
      expect(results.map(({ kind }) => String(kind)).sort()).toEqual([
        ...Array.from({ length: 11 }, () => "credited"),
        ...Array.from({ length: 9 }, () => "replayed"),
      ]);
      expect(await stores[1].accounts.account(id)).toMatchObject({ balance: 115 });
      expect(await stores[0].accounts.ledger(id)).toHaveLength(12);
    }),
  );

  test(
    "a charge is given back once",
    withNodes(async (...stores) => {
      const [store] = stores;
      const { id } = newAccount(1);
      await addAccount(store, { ...newAccount(1), credit: micros(100) });
      await admit(store, { accountId: id, held: micros(40) });
      await endOne(store, "completed");
      const all = await onBoth(stores, 8, ({ accounts }) =>
        accounts.refund(taskId(1), undefined, "spoilt", byHand(NOW)),
      );
      expect(all.filter(({ kind }) => kind === "refunded")).toHaveLength(1);
      expect(all.filter(({ kind }) => kind === "already_refunded")).toHaveLength(7);
      expect(await stores[1].accounts.account(id)).toMatchObject({ balance: 100, held: 0 });
    }),
  );

  test(
    "what two bring of another gateway at once is there once, whole",
    withNodes(async (...stores) => {
      const results = await onBoth(stores, 6, ({ imports }, i) =>
        imports.bringIn(
          {
            source: "other",
            accounts: [
              { origin: "team:1", account: newAccount(i + 1, "team"), terms: { priceMultiplier: 2_000_000 } },
            ],
            keys: [
              { origin: "key:1", key: newKey({ number: i + 1, name: "web", accountId: accountId(i + 1) }) },
            ],
          },
          bySystem(),
        ),
      );
      expect(results.filter(({ kind }) => kind === "brought")).toHaveLength(1);
      expect(await stores[0].accounts.keys({ limit: 100 })).toHaveLength(1);
      expect(await stores[1].imports.marks("other")).toHaveLength(2);
    }),
  );

  test(
    "changes of a key by both are all kept, and a key is revoked and noted once",
    withNodes(async (...stores) => {
      const [{ accounts, trail }] = stores;
      await accounts.createAccount(newAccount(1), bySystem());
      const key = newKey({ accountId: accountId(1) });
      await accounts.createKey(key, undefined, bySystem());
      const limits = ["requestsPerMinute", "concurrency", "syncWaitSec"] as const;
      await onBoth(stores, limits.length, (store, i) =>
        store.accounts.changeKey(key.id, { policy: { [limits[i]!]: i + 1 } }, byHand(NOW)),
      );
      expect((await accounts.key(key.id))?.policy).toEqual({
        requestsPerMinute: 1,
        concurrency: 2,
        syncWaitSec: 3,
      });
      const revoked = await onBoth(stores, 6, (store, i) =>
        store.accounts.revokeKey(key.id, NOW + i, byHand(NOW)),
      );
      expect(revoked.filter((result) => result === "revoked")).toHaveLength(1);
      const { entries } = await trail.page({ object: key.id, limit: 10 });
      expect(entries.map(({ action }) => action)).toEqual([
        ...["key.revoke", "key.update", "key.update", "key.update", "key.create"],
      ]);
    }),
  );
});
