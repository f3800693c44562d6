import { afterAll, describe } from "bun:test";
import { describeSearch } from "../../contracts/search-store.ts";
import { describeUsage } from "../../contracts/task-store-usage.ts";
import { CAN_TEST_POSTGRES, openEmptyPostgres, stopPostgres } from "../../helpers/postgres.ts";

describe.skipIf(!CAN_TEST_POSTGRES)("on a PostgreSQL server", () => {
  afterAll(stopPostgres);
  describeSearch("prompts in PostgreSQL", () => openEmptyPostgres());
  describeUsage("usage in PostgreSQL", () => openEmptyPostgres());
});
