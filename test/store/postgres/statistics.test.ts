import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import { SQL } from "bun";
import { type Connection, openConnection } from "../../../src/store/postgres/connection.ts";
import { keepStatistics } from "../../../src/store/postgres/statistics.ts";
import { openEmptyPostgres, stopPostgres, urlOfPostgres } from "../../helpers/postgres.ts";
import { CAN_TEST_POSTGRES } from "../../helpers/postgres-database.ts";

describe.skipIf(!CAN_TEST_POSTGRES)("a table that grows", () => {
  let connection: Connection;
  let sql: SQL;
  beforeEach(async () => {
    await (await openEmptyPostgres()).stop();
    const url = await urlOfPostgres();
    connection = openConnection({ url });
    sql = new SQL({ url, max: 1 });
    // The server itself leaves it alone.
    await sql.unsafe(
      "create table growing (number bigint primary key, text text) with (autovacuum_enabled = false)",
    );
  });
  afterEach(async () => {
    await sql.unsafe("drop table growing");
    await Promise.all([sql.close(), connection.stop()]);
  });
  afterAll(stopPostgres);

  const grow = (from: number, to: number) =>
    sql.unsafe(`insert into growing select i, repeat('x', 80) from generate_series(${from}, ${to}) as i`);
  /** How many rows the server thinks there are; -1 before it has looked. */
  const known = async () =>
    (await sql.unsafe("select reltuples from pg_class where relname = 'growing'"))[0].reltuples;

  test("is looked at once it is worth it, and again when it has doubled", async () => {
    const seen: number[] = [];
    for (const [from, to] of [
      [1, 100],
      [101, 10_000],
      [10_001, 15_000],
      [15_001, 21_000],
    ] as const) {
      await grow(from, to);
      await keepStatistics(connection.driver);
      seen.push(await known());
    }
    expect(seen).toEqual([-1, 10_000, 10_000, 21_000]);
  });

  test("is no longer read from end to end by a statement that was prepared while it was empty", async () => {
    await sql.unsafe("set plan_cache_mode = force_generic_plan");
    await sql.unsafe(
      `prepare lasting as select count(growing.text) from json_to_recordset($1::json) as given (of bigint) join growing on number = given.of`,
    );
    const plan = async () =>
      (await sql.unsafe("explain execute lasting('[]')"))
        .map((line: Record<string, string>) => line["QUERY PLAN"])
        .join("\n");
    expect(await plan()).toContain("Seq Scan on growing");
    await grow(1, 50_000);
    expect(await plan()).toContain("Seq Scan on growing");
    await keepStatistics(connection.driver);
    expect(await plan()).not.toContain("Seq Scan");
  });

  test("is looked at by one node, and waits for nobody", async () => {
    await grow(1, 10_000);
    const other = await connection.driver.begin();
    await other.ask("lock table growing in share update exclusive mode", []);
    await keepStatistics(connection.driver);
    expect(await known()).toBe(-1);
    await other.rollback();
    await Promise.all([1, 2, 3].map(() => keepStatistics(connection.driver)));
    expect(await known()).toBe(10_000);
  });
});
