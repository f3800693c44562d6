import type { Database } from "bun:sqlite";
import type { AccountId, TaskId } from "../../../domain/ids.ts";
import type { TaskStore } from "../../../domain/ports/task-store.ts";
import type { FamilyNode, FamilyPage } from "../../../domain/task/family.ts";
import { accountNumber } from "../account-store/account-table.ts";
import type { Connection } from "../connection.ts";
import { parentOf } from "./parent-columns.ts";
import { REMOVED, SUMMARY_COLUMNS, type SummaryRow, toSummary } from "./task-table.ts";

/** A task of a family, removed or not. */
export type FamilyRow = Omit<SummaryRow, "status"> & {
  readonly status: SummaryRow["status"] | typeof REMOVED;
};

/** Returns `TaskStore.family`. It costs two seeks and as much as the page is long, and a seek for each parent outside it. */
export function prepareFamily({ db, read }: Connection): Pick<TaskStore, "family"> {
  const familyOf = prepareFamilyOf(db);
  return { family: async (...of) => read(() => familyOf(...of)) };
}

function prepareFamilyOf(db: Database) {
  const rootOf = db.prepare<{ root: number }, [id: string, account: string]>(
    `select coalesce(family_number, number) as root from task
     where id = ? and account_number = ${accountNumber("?")} and status <> '${REMOVED}'`,
  );
  const first = db.prepare<FamilyRow, [number: number, account: string]>(
    `select ${SUMMARY_COLUMNS} from task where number = ? and account_number = ${accountNumber("?")}`,
  );
  const members = db.prepare<FamilyRow, [family: number, account: string, after: string, limit: number]>(
    `select ${SUMMARY_COLUMNS} from task indexed by task_family
     where family_number = ? and account_number = ${accountNumber("?")} and id > ? order by id limit ?`,
  );
  const row = db.prepare<unknown, [id: string]>("select 1 from task where id = ?");
  const isGone = (id: TaskId) => row.get(id) === null;

  return (
    id: TaskId,
    owner: AccountId,
    { limit, after }: { readonly limit: number; readonly after?: TaskId | undefined },
  ): FamilyPage | undefined => {
    const family = rootOf.get(id, owner);
    if (family === null) return undefined;
    const root = after === undefined ? first.get(family.root, owner) : null;
    // One more than asked for shows whether there is another page.
    const rows = members.all(family.root, owner, after ?? "", limit + 1);
    const all = root === null ? rows : [root, ...rows];
    const shown = all.slice(0, limit);
    const next = all.length > limit ? shown.at(-1)?.id : undefined;
    return { nodes: [...parentsOutside(shown).filter(isGone).map(goneNode), ...shown.map(nodeOf)], next };
  };
}

/** What the tasks of a page were made from, but for what is on the page. */
export function parentsOutside(rows: readonly FamilyRow[]): TaskId[] {
  const here = new Set(rows.map(({ id }) => id));
  return [...new Set(rows.flatMap(({ parent }) => (parent === null || here.has(parent) ? [] : [parent])))];
}

/** A parent of which not even a row is left. */
export const goneNode = (id: TaskId): FamilyNode => ({ kind: "removed", id });

export function nodeOf(row: FamilyRow): FamilyNode {
  const { status } = row;
  if (status === REMOVED) return { kind: "removed", id: row.id, parent: parentOf(row) };
  return { kind: "task", task: toSummary({ ...row, status }) };
}
