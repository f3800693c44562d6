import type { Database } from "bun:sqlite";

const text = (label: string) => `(select text from main.label where number = ${label})`;
const ACCOUNT = { account_id: "(select id from main.account where number = account_number)" };
const TASK = { task_id: "(select id from main.task where number = task_number)" };
const eitherOf = (...columns: readonly string[]) =>
  Object.fromEntries(columns.map((column) => [column, `coalesce(${column}, ${text(`${column}_label`)})`]));

/** Tables whose rows name others by number, with what the numbers stand for, in place of columns of that name. */
const VIEWS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  task: {
    ...ACCOUNT,
    ...{ key_id: text("key_label"), model: text("model_label") },
    ...eitherOf("origin", "usage", "quote", "charge"),
  },
  attempt: { ...TASK, ...eitherOf("usage") },
  ledger_entry: { ...ACCOUNT, ...TASK, reason: text("reason_label"), actor: text("actor_label") },
  asset: { ...ACCOUNT, ...TASK, sha256: "lower(hex(sha256))" },
};

/**
 * Has a connection read ids, models, reasons and hashes as text, as the domain has them, where rows name them by number. Tables
 * below `main.` stay as they are.
 */
export function inWords<T extends Database>(db: T): T {
  const has = db.query<{ has: number }, []>(
    "select count(*) as has from main.sqlite_schema where name = 'label'",
  );
  if (has.get()?.has !== 1) return db;
  for (const [table, words] of Object.entries(VIEWS)) {
    const columns = db.query<{ name: string }, []>(`select name from pragma_table_info('${table}')`).all();
    const plain = columns.map(({ name }) => name).filter((name) => !Object.hasOwn(words, name));
    const told = Object.entries(words).map(([name, value]) => `${value} as ${name}`);
    db.run(`create temp view ${table} as select ${[...plain, ...told].join(", ")} from main.${table}`);
  }
  return db;
}
