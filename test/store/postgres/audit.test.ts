import { afterAll, describe, expect, test } from "bun:test";
import { openAudit } from "../../../src/store/postgres/audit.ts";
import { describeAudit } from "../../contracts/audit.ts";
import { CAN_TEST_POSTGRES, openEmptyPostgres, stopPostgres, withoutRules } from "../../helpers/postgres.ts";

describe.skipIf(!CAN_TEST_POSTGRES)("the audit of PostgreSQL", () => {
  afterAll(stopPostgres);

  describeAudit("the audit of PostgreSQL", async () => {
    const store = await openEmptyPostgres();
    const rules = await withoutRules();
    return {
      store: store,
      async audit() {
        const opened = await openAudit({ url: rules.url });
        try {
          return await opened.run();
        } finally {
          opened.stop();
        }
      },
      tamper: rules.run,
      async stop() {
        await store.stop();
        await rules.restore();
      },
    };
  });

  test("a database with other tables is refused", async () => {
    const store = await openEmptyPostgres();
    const { url } = await withoutRules();
    const other = new URL(url);
    other.pathname = "/template1";
    expect(await rejected(openAudit({ url: other.href }))).toMatchObject({ kind: "pending" });
    await store.stop();
  });
});

const rejected = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );
