import { afterAll, describe } from "bun:test";
import { openAudit } from "../../../src/store/postgres/audit.ts";
import { describeMoneyModel } from "../../contracts/money-model.ts";
import { openEmptyPostgres, stopPostgres, urlOfPostgres } from "../../helpers/postgres.ts";
import { CAN_TEST_POSTGRES } from "../../helpers/postgres-database.ts";
import type { StoreUnderTest } from "../../helpers/store.ts";

describe.skipIf(!CAN_TEST_POSTGRES)("on a PostgreSQL server", () => {
  afterAll(stopPostgres);

  // Each statement is a round to the server, so that fewer runs take as long.
  describeMoneyModel(
    "money in PostgreSQL",
    async () => ({
      store: (await openEmptyPostgres()) as unknown as StoreUnderTest,
      async audit() {
        const opened = await openAudit({ url: await urlOfPostgres() });
        const report = await opened.run();
        opened.stop();
        return report;
      },
      remove: () => {},
    }),
    12,
  );
});
