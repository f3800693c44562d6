import { afterAll, describe } from "bun:test";
import { openConnection } from "../../../src/store/postgres/connection.ts";
import { createUsageReading } from "../../../src/store/postgres/usage-reading.ts";
import { describeSearch } from "../../contracts/search-store.ts";
import { describeUsage } from "../../contracts/task-store-usage.ts";
import { describeUsagePages, type ReadStore } from "../../contracts/usage-pages.ts";
import { CAN_TEST_POSTGRES, openEmptyPostgres, stopPostgres, withoutRules } from "../../helpers/postgres.ts";

async function readStore(): Promise<ReadStore> {
  const store = await openEmptyPostgres();
  const rules = await withoutRules();
  const connection = openConnection({ url: rules.url });
  return {
    ...{ store, report: createUsageReading(connection, connection), tamper: rules.run },
    numberOn: (above) => rules.run(`select setval(pg_get_serial_sequence('task', 'number'), ${above})`),
    async stop() {
      await connection.stop();
      await store.stop();
      await rules.restore();
    },
  };
}

describe.skipIf(!CAN_TEST_POSTGRES)("on a PostgreSQL server", () => {
  afterAll(stopPostgres);
  describeSearch("prompts in PostgreSQL", () => openEmptyPostgres());
  describeUsage("usage in PostgreSQL", () => openEmptyPostgres());
  describeUsagePages("pages of usage in PostgreSQL", readStore);
});
