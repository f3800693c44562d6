const LOOKED_AT = /(=|\bis|\blimit)\s+\?/g;

/**
 * Puts a plus, which changes nothing, before each value that a column is compared with, and before each limit. Of a statement with an
 * order or a limit, SQLite 3.54 looks at such a value when it makes the plan, and makes the plan anew each time that one is bound: a seek
 * takes ten times as long. It does not look behind the plus.
 */
export function plannedOnce(sql: string): string {
  return sql.replaceAll(LOOKED_AT, "$1 +?");
}
