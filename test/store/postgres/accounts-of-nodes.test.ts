import { afterAll, describe, expect, test } from "bun:test";
import {
  CAN_TEST_POSTGRES,
  onBoth,
  type PostgresStore,
  stopPostgres,
  withNodes,
} from "../../helpers/postgres.ts";
import { accountId, byHand, bySystem, micros, NOW, newKey } from "../../helpers/store.ts";

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
      const [account, ...others] = await stores[0].accounts.accounts();
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
      expect(await stores[0].accounts.accounts()).toHaveLength(1);
      expect(await stores[1].accounts.keys()).toHaveLength(1);
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
});
