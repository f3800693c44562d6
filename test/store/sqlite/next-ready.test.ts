import { expect, test } from "bun:test";
import { openConnection } from "../../../src/store/sqlite/connection.ts";
import { applyMigrations } from "../../../src/store/sqlite/migrate.ts";
import { prepareNextReady } from "../../../src/store/sqlite/task-store/next-ready.ts";
import { Turns } from "../../../src/store/sqlite/task-store/turns.ts";

test("whose turn it is costs seeks in the index of ready tasks, and no walk or sort", async () => {
  const connection = openConnection({ path: ":memory:" });
  applyMigrations(connection.db);
  const seen: string[] = [];
  const { prepare } = connection.db;
  connection.db.prepare = ((...given: Parameters<typeof prepare>) => {
    seen.push(given[0]);
    return prepare.apply(connection.db, given);
  }) as typeof prepare;
  prepareNextReady(connection.db, new Turns());
  const plans = seen.map((sql) =>
    connection.db
      .query<{ detail: string }, []>(`explain query plan ${sql}`)
      .all()
      .map(({ detail }) => detail.replace("COVERING ", ""))
      .filter((detail) => !/attempt|SUBQUERY/.test(detail)),
  );
  const seek = (columns: string) => [`SEARCH task USING INDEX task_ready (${columns})`];
  const seeks = [seek("lane=?"), seek("lane=? AND setup>?"), seek("lane=? AND setup=? AND account_number>?")];
  expect(plans).toEqual([...seeks, ...seeks]);
  await connection.stop();
});
