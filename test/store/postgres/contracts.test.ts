import { afterAll, describe, test } from "bun:test";
import { openEmptyPostgres, stopPostgres } from "../../helpers/postgres.ts";
import { CAN_TEST_POSTGRES } from "../../helpers/postgres-database.ts";

const open = () => openEmptyPostgres();

describe.skipIf(!CAN_TEST_POSTGRES)("on a PostgreSQL server", () => {
  afterAll(stopPostgres);

  test("a database with all tables is opened", async () => {
    const store = await open();
    await store.stop();
  });
});
