import { holdEntry } from "../../../domain/money/ledger.ts";
import type { Admission } from "../../../domain/ports/task-store.ts";
import { NEW_ALIKE, NEW_TASK } from "../../sqlite/task-store/task-table.ts";
import type { Labels } from "../labels.ts";
import type { EntryRow, Ledger } from "../ledger.ts";
import { type RecordRow, recordOf } from "./idempotency.ts";

/** The columns of a new task but for its numbers. */
export type NewTaskRow = Readonly<Record<string, string | number | null>>;

/** An admission with the rows that it becomes, which are made before its transaction begins. */
export interface PreparedAdmission {
  readonly admission: Admission;
  readonly row: NewTaskRow;
  readonly keyLabel: number;
  /** Absent where nothing is held. */
  readonly entry: EntryRow | undefined;
  readonly record: RecordRow | undefined;
}

const ALIKE = Object.keys(NEW_ALIKE).flatMap((column) => [column, `${column}_label`]);
/**
 * What stands for a column's value. Neither another account's task nor one that is gone has a family. The sum keeps the planner from an
 * index of accounts: while it knows nothing of the table, it would read all tasks of the account for each new one.
 */
const EXPRESSIONS: Readonly<Record<string, string>> = {
  account_number: "$2::bigint",
  family_number:
    "(select coalesce(of.family_number, of.number) from task as of where of.id = given.parent and of.account_number + 0 = $2::bigint)",
  change: "nextval('task_change_number')",
};
const COLUMNS = ["account_number", "family_number", ...ALIKE, ...Object.keys(NEW_TASK)];

/** Inserts the rows of a parameter as new tasks of an account, whose number is `$2`, as SQL. */
export const creating = (rows: string): string =>
  `insert into task (${COLUMNS.join(", ")})
     select ${COLUMNS.map((column) => EXPRESSIONS[column] ?? column).join(", ")}
     from json_populate_recordset(null::task, ${rows}::text::json) as given`;

/** Makes the rows of an admission. Asks for labels outside of any transaction. */
export async function prepareAdmission(
  { labels, ledger }: { readonly labels: Labels; readonly ledger: Ledger },
  admission: Admission,
): Promise<PreparedAdmission> {
  const { task, idempotency } = admission;
  const { id, keyId, model, held, createdAt } = task;
  const [keyLabel, modelLabel, entry, ...texts] = await Promise.all([
    labels.of(keyId),
    labels.of(model),
    held > 0 ? ledger.rowOf(holdEntry(id, held, keyId), createdAt) : undefined,
    ...Object.values(NEW_ALIKE).map((value) => labels.columns(value(task))),
  ]);
  const of = (text: string) => (text === keyId ? keyLabel : modelLabel);
  const admitted = { labels: { of }, quotaPeriod: undefined, change: 0 };
  const values = Object.entries(NEW_TASK).map(([column, value]) => [column, value(task, admitted)]);
  const alike = texts.flat().map((value, i) => [ALIKE[i], value]);
  return {
    admission,
    row: Object.fromEntries([...values, ...alike]),
    keyLabel,
    entry,
    record: idempotency && recordOf(idempotency, id, held),
  };
}
