import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { is } from "drizzle-orm";
import { getTableConfig, PgTable } from "drizzle-orm/pg-core";
import * as tables from "../../../src/store/postgres/tables.ts";

interface Snapshot {
  readonly tables: Readonly<
    Record<string, { readonly name: string; readonly columns: object; readonly indexes: object }>
  >;
}

test("the tables that queries are written against are those that the next migration is compared with", () => {
  const file = readFileSync(join(import.meta.dir, "../../../migrations/postgres/snapshot.json"), "utf8");
  const kept = Object.values((JSON.parse(file) as Snapshot).tables).map(({ name, columns, indexes }) => [
    name,
    Object.keys(columns),
    Object.keys(indexes).toSorted(),
  ]);
  const described = Object.values(tables)
    .filter((each) => is(each, PgTable))
    .map((table) => {
      const { name, columns, indexes } = getTableConfig(table);
      return [
        name,
        columns.map((column) => column.name),
        indexes.map(({ config }) => config.name ?? "").toSorted(),
      ];
    });
  expect(kept.toSorted()).toEqual(described.toSorted());
});
