import { afterAll, describe, expect, test } from "bun:test";
import { openDriver } from "../../../src/store/postgres/driver.ts";
import { emptyPostgres, stopPostgres } from "../../helpers/postgres.ts";
import { CAN_TEST_POSTGRES } from "../../helpers/postgres-database.ts";

describe.skipIf(!CAN_TEST_POSTGRES)("a transaction on a PostgreSQL server", () => {
  afterAll(stopPostgres);

  test("in which a statement failed is not told to be committed", async () => {
    const driver = openDriver({ url: await emptyPostgres(), most: 1 });
    const transaction = await driver.begin();
    await expect(transaction.ask("select 1 / 0", [])).rejects.toThrow("division by zero");
    await expect(transaction.commit()).rejects.toThrow("undone, not committed");
    // Its connection is free again.
    const next = await driver.begin();
    await next.ask("select 1", []);
    await next.commit();
    await driver.close();
  });
});
