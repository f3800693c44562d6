import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { SQL } from "bun";
import { refundEntry } from "../../../src/domain/money/ledger.ts";
import { type Connection, openConnection } from "../../../src/store/postgres/connection.ts";
import { createLabels } from "../../../src/store/postgres/labels.ts";
import { createLedger } from "../../../src/store/postgres/ledger.ts";
import { prepareAdmit } from "../../../src/store/postgres/task-store/admit.ts";
import { type Asked, noting } from "../../helpers/plans.ts";
import { openEmptyPostgres, removePostgres, urlOfPostgres } from "../../helpers/postgres.ts";
import { CAN_TEST_POSTGRES } from "../../helpers/postgres-database.ts";
import { ACCOUNT, addAccount, micros, NOW, newTask } from "../../helpers/store.ts";

/** Where there are many rows before long: tables, and what an index has of one account. */
const GROWING = /(?:Seq Scan on (?:task|ledger_entry|idempotency)\b|Scan (?:using|on) task_change\b).*/g;

/** What the plan that serves all parameters reads from one end to the other, of a table or of an account. */
async function scannedBy(sql: SQL, { text, parameters }: Asked): Promise<string[]> {
  await sql.unsafe(`prepare planned as ${text}`);
  const lines = await sql.unsafe(`explain execute planned(${parameters.map(() => "null").join(", ")})`);
  await sql.unsafe("deallocate planned");
  const plan = lines.map((line: Record<string, string>) => line["QUERY PLAN"]).join("\n");
  return [...plan.matchAll(GROWING)].map(([step]) => `${step}: ${text}`);
}

describe.skipIf(!CAN_TEST_POSTGRES)("statements that a process prepares while there is little", () => {
  beforeAll(removePostgres);
  afterAll(removePostgres);

  test("write creates and the ledger by indexes, since their plans stay when there is much", async () => {
    const store = await openEmptyPostgres();
    await addAccount(store, { id: ACCOUNT });
    await store.stop();
    const url = await urlOfPostgres();
    const connection = openConnection({ url });
    const asked: Asked[] = [];
    const noted: Connection = {
      ...connection,
      writeFor: (of, operation, options) =>
        connection.writeFor(of, (session) => operation(noting(session, asked)), options),
    };
    const labels = createLabels(connection.driver);
    const ledger = createLedger(labels);
    const task = newTask();
    const { keyId } = task;
    const idempotency = { keyId, endpoint: "POST /", key: "key", fingerprint: "print", expiresAt: NOW + 1 };
    const admitted = await prepareAdmit(noted, { labels, ledger })({
      task,
      idempotency,
      assets: [],
    } as never);
    expect(admitted).toEqual({ kind: "admitted", isLow: false });
    const refund = refundEntry(task.id, micros(1), "sorry", "operator");
    await noted.writeFor(ACCOUNT, (session) => ledger.post(session, ACCOUNT, [refund], NOW));
    await connection.stop();

    const sql = new SQL({ url, max: 1 });
    await sql.unsafe("set plan_cache_mode = force_generic_plan");
    const scanned: string[] = [];
    for (const each of asked) scanned.push(...(await scannedBy(sql, each)));
    await sql.close();
    expect(asked.some(({ text }) => text.includes("insert into ledger_entry"))).toBe(true);
    expect(scanned).toEqual([]);
  });
});
