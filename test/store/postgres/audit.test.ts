import { afterAll, describe, expect, test } from "bun:test";
import { SQL } from "bun";
import { createSharedBooks } from "../../../src/app/shared-books.ts";
import { createAudit, openAudit } from "../../../src/store/postgres/audit.ts";
import { settledNumbers } from "../../../src/store/postgres/audit-settled.ts";
import { openConnection } from "../../../src/store/postgres/connection.ts";
import { createSealStore } from "../../../src/store/postgres/seal-store.ts";
import { type AuditedStore, describeAudit } from "../../contracts/audit.ts";
import { describeSeals } from "../../contracts/audit-seals.ts";
import {
  openEmptyPostgres,
  openUnruledPostgres,
  stopPostgres,
  urlOfPostgres,
} from "../../helpers/postgres.ts";
import { CAN_TEST_POSTGRES } from "../../helpers/postgres-database.ts";

describe.skipIf(!CAN_TEST_POSTGRES)("the audit of PostgreSQL", () => {
  afterAll(stopPostgres);

  const audited = async (): Promise<AuditedStore> => {
    const { connection, store, tamper } = await openUnruledPostgres();
    const { run, examine } = createAudit(connection);
    const { keep } = createSealStore(connection);
    const sequence = (table: string, number: string, above: number) =>
      `select setval(pg_get_serial_sequence('${table}', '${number}'), ${above})`;
    return {
      store,
      audit: run,
      async seal(depth, keeps = true) {
        const outcome = await examine(depth);
        if (keeps) await keep(outcome.seals);
        return outcome;
      },
      keep,
      numberOn: (above) => tamper(sequence("task", "number", above), sequence("ledger_entry", "id", above)),
      tamper,
      stop: store.stop,
    };
  };
  describeAudit("the audit of PostgreSQL", audited);
  describeSeals("seals of PostgreSQL", audited);

  test("nothing is sealed before every transaction that may have drawn a number has ended", async () => {
    const store = await openEmptyPostgres();
    const url = await urlOfPostgres();
    const connection = openConnection({ url });
    const [slow, other] = [new SQL({ url, max: 1 }), new SQL({ url, max: 1 })];
    await slow.unsafe("begin");
    await slow.unsafe("select pg_current_xact_id()");
    const happened: string[] = [];
    const settled = connection.read(settledNumbers).then((numbers) => {
      happened.push("settled");
      return numbers;
    });
    await other.unsafe("select pg_sleep(0.3)");
    happened.push("committed");
    await slow.unsafe("commit");
    expect(await settled).toMatchObject({ task: 0, ledger_entry: 0, label: 0 });
    expect(happened).toEqual(["committed", "settled"]);
    for (const sql of [slow, other]) await sql.close();
    await connection.stop();
    await store.stop();
  });

  test("who asks for an audit that goes on waits for that one", async () => {
    const { stop } = await audited();
    const connection = openConnection({ url: await urlOfPostgres() });
    let audits = 0;
    const books = await createSharedBooks(connection, connection, async () => {
      audits += 1;
    });
    await Promise.all([books.run(), books.run("checksums"), books.run("new")]);
    expect(audits).toBe(2);
    await books.run();
    expect(audits).toBe(3);
    await connection.stop();
    await stop();
  });

  test("a transaction of another database of the server is not waited for", async () => {
    const store = await openEmptyPostgres();
    const url = await urlOfPostgres();
    const elsewhere = new URL(url);
    elsewhere.pathname = "/postgres";
    const [connection, slow] = [openConnection({ url }), new SQL({ url: elsewhere.href, max: 1 })];
    await slow.unsafe("begin");
    await slow.unsafe("select pg_current_xact_id()");
    expect(await connection.read(settledNumbers)).toMatchObject({ task: 0, ledger_entry: 0, label: 0 });
    await slow.unsafe("rollback");
    await slow.close();
    await connection.stop();
    await store.stop();
  });

  test("a database with other tables is refused", async () => {
    const store = await openEmptyPostgres();
    const url = await urlOfPostgres();
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
