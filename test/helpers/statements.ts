import { Database } from "bun:sqlite";
import { TrackingDatabase } from "../../src/store/sqlite/connection.ts";
import { plannedOnce } from "../../src/store/sqlite/planned-once.ts";

/** The methods that take a statement. The store's own takes one long before SQLite sees it, if it ever does. */
const WAYS = ["prepare", "query", "run", "exec", "prepareLate"] as const;
type Way = (this: unknown, sql: string, ...rest: unknown[]) => unknown;

/** The query builder calls from deep within. */
const DEEP = 40;
/** A deep stack takes longer to read than most statements to prepare, so it is read the first times that a text comes. */
const [DEEP_TIMES, SHALLOW] = [4, 6];

/** Notes every statement that any database of this process is given, and the files of the store that it comes from, until `stop`. */
export function watchStatements() {
  const seen = new Map<string, Set<string>>();
  const times = new Map<string, number>();
  const originals = [Database.prototype, TrackingDatabase.prototype].flatMap((prototype) => {
    // Safe: each is a method whose first parameter is the statement.
    const methods = prototype as unknown as Record<(typeof WAYS)[number], Way>;
    const own = WAYS.filter((way) => Object.hasOwn(methods, way));
    return own.map((way) => ({ methods, way, original: methods[way] }));
  });
  const depth = Error.stackTraceLimit;
  for (const { methods, way, original } of originals)
    methods[way] = function (sql, ...rest) {
      // By its text as it is in the source.
      const text = sql.replaceAll("+?", "?");
      const files = seen.getOrInsertComputed(text, () => new Set<string>());
      const count = (times.get(text) ?? 0) + 1;
      times.set(text, count);
      Error.stackTraceLimit = count > DEEP_TIMES ? SHALLOW : DEEP;
      for (const [, file] of (new Error().stack ?? "").matchAll(/\/src\/store\/([\w./-]+)\.ts/g))
        files.add(file!);
      return original.call(this, sql, ...rest);
    };
  return {
    seen: seen as ReadonlyMap<string, ReadonlySet<string>>,
    stop() {
      for (const { methods, way, original } of originals) methods[way] = original;
      Error.stackTraceLimit = depth;
    },
  };
}

interface Step {
  readonly addr: number;
  readonly opcode: string;
  readonly p1: number;
  readonly p2: number;
  readonly p3: number;
}

/** A table, and the index of it that is read, or the table again. */
interface Place {
  readonly table: string;
  readonly name: string;
}

/**
 * What of a statement may take long where tables are large, one line each: loops over rows of a table that do not end at a limit, or
 * that pass over rows they have read, and sorting. Loops over the `few` tables are left out. Read from the program that SQLite makes
 * of the statement, because its plan does not show which rows are passed over.
 */
export function walksOf(db: Database, text: string, few: readonly string[]): string[] {
  const sql = plannedOnce(text);
  const plan = db.query<{ detail: string }, []>(`explain query plan ${sql}`).all();
  const sorts = plan.flatMap(({ detail }) => (detail.startsWith("USE TEMP B-TREE") ? ["sorts"] : []));
  const program = db.query<Step, []>(`explain ${sql}`).all();
  // The programs of triggers and references follow, each from 0 on.
  const end = program.findIndex(({ addr }, i) => i > 0 && addr === 0);
  const steps = end < 0 ? program : program.slice(0, end);
  const places = placesOf(db, steps);
  const walks = steps.flatMap((next): string[] => {
    const place = places.get(next.p1);
    if (!/^(Next|Prev)$/.test(next.opcode) || place === undefined || few.includes(place.table)) return [];
    const body = steps.slice(next.p2, next.addr);
    // The second number of a column is its place, not an address.
    const passes = body.some(({ opcode, p2 }) => p2 === next.addr && !/^(Goto|Column)$/.test(opcode));
    // A limit counts down; the least and the greatest of an index are the first that is read.
    const isLimited = body.some(({ opcode, p2 }) => /^(DecrJumpZero|Goto)$/.test(opcode) && p2 > next.addr);
    return [
      ...(passes ? [`passes over rows of ${place.name}`] : []),
      ...(isLimited ? [] : [`reads ${place.name} to the end`]),
    ];
  });
  return [...new Set([...sorts, ...walks])].sort();
}

/** What each cursor of a program reads. */
function placesOf(db: Database, steps: readonly Step[]): Map<number, Place> {
  const schemas = ["sqlite_schema", "temp.sqlite_schema"].map((schema) =>
    db
      .query<Place & { rootpage: number }, []>(`select tbl_name as "table", name, rootpage from ${schema}`)
      .all(),
  );
  const opened = steps.filter(({ opcode }) => /^(OpenRead|OpenWrite|ReopenIdx)$/.test(opcode));
  return new Map(
    opened.flatMap(({ p1, p2, p3 }) => {
      const place = schemas[p3]?.find(({ rootpage }) => rootpage === p2);
      return place === undefined ? [] : [[p1, place]];
    }),
  );
}
