import type { Database, SQLQueryBindings } from "bun:sqlite";
import type { Start } from "../../../domain/ports/claims.ts";
import type { NewTask } from "../../../domain/task/task.ts";
import type { Labels } from "../labels.ts";
import { BEGIN } from "./advance.ts";
import { type AdmittedWith, NEW_ALIKE, NEW_TASK, type TaskRow } from "./task-table.ts";

/** What stands for a column's value. Neither another account's task nor one that is gone has a family. */
const EXPRESSIONS: Readonly<Record<string, string>> = {
  account_number: "?1",
  family_number:
    "(select coalesce(of.family_number, of.number) from task as of where of.id = ?2 and of.account_number = ?1)",
  ...{ failures: "0", progress: "0", cancel_requested: "0" },
};
/** The same in every new task of either kind, so that nothing is handed over for them. */
const QUEUED = {
  ...EXPRESSIONS,
  ...{ status: "'pending'", stage: `'${BEGIN.from}'`, pool: "'ready'", attempts: "0" },
};
const BEGUN = {
  ...EXPRESSIONS,
  ...{ status: "'processing'", stage: `'${BEGIN.to}'`, pool: "'under_way'", attempts: "1" },
};

/** What differs in a task that is begun at once. */
const BEGUN_TASK = {
  due_at: ({ until }) => until,
  lease_token: ({ token }) => token,
  started_at: ({ intent }) => intent.at,
  deadline_at: ({ intent }) => intent.deadlineAt,
} satisfies { readonly [C in keyof TaskRow]?: (start: Start) => TaskRow[C] };

/** @returns what inserts a task of the account with this number, as queued or as begun, and returns the task's */
export function prepareInsertTask(db: Database, labels: Labels) {
  const queued = prepareInsert(db, labels, QUEUED, []);
  const begun = prepareInsert(db, labels, BEGUN, Object.keys(BEGUN_TASK));
  const begunValues = Object.values(BEGUN_TASK);
  return (task: NewTask, account: number, admitted: AdmittedWith, start: Start | undefined): number => {
    if (start === undefined) return queued(task, account, admitted, []);
    return begun(
      task,
      account,
      admitted,
      begunValues.map((value) => value(start)),
    );
  };
}

/** @param own columns whose values are given last, in place of what a new task has there */
function prepareInsert(
  db: Database,
  labels: Labels,
  expressions: Readonly<Record<string, string>>,
  own: readonly string[],
) {
  const alike = Object.keys(NEW_ALIKE).flatMap((column) => [column, `${column}_label`]);
  const news = Object.entries(NEW_TASK).filter(([column]) => !own.includes(column));
  const columns = ["account_number", "family_number", ...alike, ...news.map(([column]) => column), ...own];
  const values = news.filter(([column]) => expressions[column] === undefined).map(([, value]) => value);
  const alikeValues = Object.values(NEW_ALIKE);
  const places = columns.map((column) => expressions[column] ?? "?");
  const insert = db.prepare(`insert into task (${columns.join(", ")}) values (${places.join(", ")})`);
  return (
    task: NewTask,
    account: number,
    admitted: AdmittedWith,
    ownValues: readonly SQLQueryBindings[],
  ): number => {
    // Every create comes by: one list that grows takes less than lists that are joined.
    const given: SQLQueryBindings[] = [account, task.parent?.id ?? null];
    for (const value of alikeValues) {
      const [text, label] = labels.columns(value(task));
      given.push(text, label);
    }
    for (const value of values) given.push(value(task, admitted));
    for (const value of ownValues) given.push(value);
    return Number(insert.run(...given).lastInsertRowid);
  };
}
