import { afterAll, describe, expect, test } from "bun:test";
import { readSharedNames } from "../../../src/store/postgres/names.ts";
import { openEmptyPostgres, stopPostgres, urlOfPostgres } from "../../helpers/postgres.ts";
import { CAN_TEST_POSTGRES } from "../../helpers/postgres-database.ts";
import { accountId, bySystem, keyId, micros, NOW, newKey } from "../../helpers/store.ts";

describe.skipIf(!CAN_TEST_POSTGRES)("names of a PostgreSQL database", () => {
  afterAll(stopPostgres);

  test("the newest come first, those of revoked keys not at all", async () => {
    const { accounts, stop } = await openEmptyPostgres();
    for (const number of [1, 2])
      await accounts.createAccount(
        {
          ...{ id: accountId(number), name: `account ${number}`, mode: "unlimited" },
          ...{ credit: micros(0), createdAt: NOW },
        },
        bySystem(),
      );
    for (const number of [1, 2, 3])
      await accounts.createKey(newKey({ number, accountId: accountId(2) }), undefined, bySystem());
    await accounts.revokeKey(keyId(2), NOW, bySystem());
    const url = await urlOfPostgres();
    expect(await readSharedNames(url, "key", 9)).toEqual([
      { name: "key 3", about: "account 2" },
      { name: "key 1", about: "account 2" },
    ]);
    expect(await readSharedNames(url, "account", 1)).toEqual([{ name: "account 2", about: "unlimited" }]);
    expect(await readSharedNames(url, "token", 9)).toEqual([]);
    await stop();
  });
});
