import { afterAll, describe, expect, test } from "bun:test";
import { namesOf, requireFit } from "../../../src/store/postgres/fit.ts";
import { MIGRATIONS } from "../../../src/store/postgres/migrations.ts";
import { askPostgres, stopPostgres, urlOfPostgres } from "../../helpers/postgres.ts";
import { CAN_TEST_POSTGRES } from "../../helpers/postgres-database.ts";

/** A server whose connections are answered by these processes, one after the other. */
function serverOf(...pids: readonly number[]) {
  const left = [...pids];
  const about = {
    version: 150_000,
    encoding: "UTF8",
    schema: "public",
    is_standby: 0,
    is_read_only: 0,
    has_settings: 1,
  };
  const ask = async (text: string) => ({
    rows: [text.includes("pg_backend_pid") ? { pid: left.shift() ?? 0 } : about],
    count: 1,
  });
  return { ask, aside: { ask } };
}

test("connections that the same process of the server answers are behind a pooler", async () => {
  await expect(requireFit(serverOf(1, 2, 3, 1))).rejects.toThrow("A pooler before the database gives");
  await requireFit(serverOf(1, 2, 3, 4, 1, 2, 5, 4));
});

describe.skipIf(!CAN_TEST_POSTGRES)("in a PostgreSQL database", () => {
  afterAll(stopPostgres);

  test("the tables and sequences whose rights are looked at are those that are there", async () => {
    await urlOfPostgres();
    const there = await askPostgres(
      `select relname as name from pg_class where relnamespace = 'public'::regnamespace and (relkind = 'r'
         or relkind = 'S' and not exists (select 1 from pg_depend where objid = pg_class.oid and deptype = 'i')) order by 1`,
    );
    expect(namesOf(MIGRATIONS).toSorted()).toEqual(there.map(({ name }) => String(name)));
  });
});
