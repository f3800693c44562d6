import { afterAll, describe } from "bun:test";
import { createUsageReading } from "../../../src/store/postgres/usage-reading.ts";
import { describeSearch } from "../../contracts/search-store.ts";
import { describeUsage } from "../../contracts/task-store-usage.ts";
import { describeUsagePages, type ReadStore } from "../../contracts/usage-pages.ts";
import { openEmptyPostgres, openUnruledPostgres, stopPostgres } from "../../helpers/postgres.ts";
import { CAN_TEST_POSTGRES } from "../../helpers/postgres-database.ts";
import { readingOn } from "./reading-on.ts";

async function readStore(): Promise<ReadStore> {
  const { connection, store, tamper } = await openUnruledPostgres();
  return {
    ...{ store, report: readingOn(createUsageReading(connection, connection)), tamper },
    numberOn: (above) => tamper(`select setval(pg_get_serial_sequence('task', 'number'), ${above})`),
    stop: store.stop,
  };
}

describe.skipIf(!CAN_TEST_POSTGRES)("on a PostgreSQL server", () => {
  afterAll(stopPostgres);
  describeSearch("prompts in PostgreSQL", () => openEmptyPostgres());
  describeUsage("usage in PostgreSQL", () => openEmptyPostgres());
  describeUsagePages("pages of usage in PostgreSQL", readStore);
});
