import { Column, is, type SQL, sql } from "drizzle-orm";
import {
  type AnyPgColumn,
  bigint,
  check,
  customType,
  foreignKey,
  type IndexBuilder,
  index,
  type PgColumnBuilderBase,
  type PgTable,
  pgTable,
  primaryKey,
  smallint,
  unique,
  uniqueIndex,
} from "drizzle-orm/pg-core";
import { getTableConfig, type SQLiteColumn, type SQLiteTable } from "drizzle-orm/sqlite-core";

/** Compares by bytes, as SQLite does, whatever the collation of the database: pages of lists go by the order of ids. */
export const textByBytes = customType<{ data: string }>({ dataType: () => 'text collate "C"' });
export const bytes = customType<{ data: Buffer }>({ dataType: () => "bytea" });

/** Tables of PostgreSQL by the SQLite tables that they mirror. Tables that others refer to come first. */
const made = new Map<SQLiteTable, PgTable>();

/**
 * The table of PostgreSQL with the columns, keys, checks and indexes of a table of SQLite, so that a row reads the same in both
 * and each column is defined once. Whole numbers are `bigint`, texts and JSON `text`, booleans 0 and 1. Additional indexes are
 * those that PostgreSQL needs and SQLite does not.
 */
export function mirrored(
  table: SQLiteTable,
  moreIndexes: (column: (of: Pick<Column, "name">) => AnyPgColumn) => readonly IndexBuilder[] = () => [],
): PgTable {
  const config = getTableConfig(table);
  const referring = new Set(config.foreignKeys.flatMap((key) => key.reference().columns));
  const columns = Object.fromEntries(
    config.columns.map((column) => [column.name, columnLike(column, referring.has(column))]),
  );
  const mirror = pgTable(config.name, columns, (own) => {
    const ofOwn = (column: Pick<Column, "name">) => own[column.name] as AnyPgColumn;
    const several = (each: readonly Pick<Column, "name">[]) =>
      each.map(ofOwn) as [AnyPgColumn, ...AnyPgColumn[]];
    return [
      ...config.primaryKeys.map((key) => primaryKey({ columns: several(key.columns) })),
      ...config.uniqueConstraints.map((each) => unique(each.getName()).on(...several(each.columns))),
      ...config.checks.map((each) => check(each.name, each.value)),
      ...config.foreignKeys.map((key) => foreignKeyLike(key.reference(), several)),
      ...config.indexes.map(({ config: { name, columns: of, unique: isUnique, where } }) => {
        const [first, ...others] = of.map((each) => (is(each, Column) ? ofOwn(each) : sql`(${each})`)) as [
          AnyPgColumn | SQL,
          ...(AnyPgColumn | SQL)[],
        ];
        const built = (isUnique ? uniqueIndex(name) : index(name)).on(first, ...others);
        return where === undefined ? built : built.where(where);
      }),
      ...moreIndexes(ofOwn),
    ];
  });
  made.set(table, mirror);
  return mirror;
}

function foreignKeyLike(
  of: {
    readonly columns: SQLiteColumn[];
    readonly foreignTable: SQLiteTable;
    readonly foreignColumns: SQLiteColumn[];
  },
  several: (columns: readonly SQLiteColumn[]) => [AnyPgColumn, ...AnyPgColumn[]],
) {
  const target = made.get(of.foreignTable);
  if (target === undefined) throw new Error(`${getTableConfig(of.foreignTable).name} has no mirror yet.`);
  const theirs = target as unknown as Readonly<Record<string, AnyPgColumn>>;
  const foreignColumns = of.foreignColumns.map(({ name }) => theirs[name]) as [AnyPgColumn, ...AnyPgColumn[]];
  return foreignKey({ columns: several(of.columns), foreignColumns });
}

/** SQLite counts the rows of a table whose key is a whole number. */
function columnLike(column: SQLiteColumn, isReference: boolean): PgColumnBuilderBase {
  if (column.primary && column.getSQLType() === "integer" && !isReference)
    return bigint(column.name, { mode: "number" }).generatedByDefaultAsIdentity().primaryKey();
  const built = builderOf(column);
  const keyed = column.primary ? built.primaryKey() : built;
  const unique = column.isUnique ? keyed.unique(column.uniqueName) : keyed;
  const defaulted = column.default === undefined ? unique : unique.default(storedDefault(column));
  return column.notNull ? defaulted.notNull() : defaulted;
}

function builderOf(column: SQLiteColumn) {
  const type = column.getSQLType();
  if (type === "blob") return bytes(column.name);
  if (type === "text") return textByBytes(column.name);
  return column.dataType === "boolean" ? smallint(column.name) : bigint(column.name, { mode: "number" });
}

/** A default as the column stores it. */
function storedDefault(column: SQLiteColumn) {
  return column.mapToDriverValue(column.default) as never;
}
