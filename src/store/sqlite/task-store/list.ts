import type { Database } from "bun:sqlite";
import type { AccountId, ModelId, TaskId } from "../../../domain/ids.ts";
import type { ListOrder, ManagedTaskFilter } from "../../../domain/ports/task-store.ts";
import { TASK_KINDS, type TaskKind } from "../../../domain/task/request.ts";
import { isTerminal, TASK_STATUSES, type TaskStatus } from "../../../domain/task/task.ts";
import { madeAtUse } from "../../../toolkit/made-at-use.ts";
import { ENDED, LIVE } from "./task-table.ts";

/** Which ids come after a task's, in which order they are read, and where a listing begins: before, or after, every id. */
const ORDERS = {
  newest: { beyond: "<", sorting: "desc", start: "~" },
  oldest: { beyond: ">", sorting: "asc", start: "" },
} as const satisfies Record<ListOrder, object>;

/** Whose tasks are in a group: an account's or everybody's; live ones are in groups by account and key. Both by number. */
interface Holder {
  readonly owner: Owner;
  readonly key: number | null;
}

/** Tasks of one holder, status, kind and model, which is given by its label. */
interface Group extends Holder {
  readonly status: TaskStatus;
  readonly kind: TaskKind;
  readonly model: number;
}

/** A task in an index. */
interface Found {
  readonly id: TaskId;
  readonly number: number;
}

/** A group, and its next tasks that are not listed yet, as far as they were read; at least one. */
interface Head extends Group {
  readonly tasks: readonly [Found, ...Found[]];
}

type Owner = number | null;
export type FindTasks = ReturnType<typeof prepareFind>;

/** A filter, and in which order its tasks are listed; the newest first unless given. */
type Listing = ManagedTaskFilter & { readonly order?: ListOrder | undefined };

/**
 * Returns a function that finds the first tasks of a filter: their numbers, in order. It seeks the
 * first task of each group that the filter admits, and merges the groups. So a page costs two seeks for each model that was ever
 * used, and of live tasks, for each that a key uses now, and as much as the page is long, however many tasks there are and however few
 * of them match.
 */
export function prepareFind(db: Database): (filter: Listing) => number[] {
  const indexOf = prepareIndexes(db);
  const numbersOf = prepareNumbers(db);
  return (filter) => {
    const { limit, order = "newest" } = filter;
    const numbers = numbersOf(filter);
    const inOrder = order === "newest" ? newestFirst : oldestFirst;
    if (numbers === undefined) return [];
    const found: number[] = [];
    // No more groups than the page has tasks can have a part in it.
    let heads = headsOf(indexOf, filter, numbers).sort(inOrder).slice(0, limit);
    while (found.length < limit && heads.length > 0) {
      const head = heads.reduce((first, each) => (inOrder(first, each) < 0 ? first : each));
      const [{ id, number }, ...more] = head.tasks;
      found.push(number);
      // Where all groups have as many tasks in the page, each is read once.
      const share = Math.ceil((limit - found.length) / heads.length);
      const rest = more.length > 0 ? more : indexOf(head.status, numbers.owner, order).next(head, id, share);
      heads = heads.flatMap((each) => (each === head ? headOf(head, rest) : [each]));
    }
    return found;
  };
}

const newestFirst = (a: Head, b: Head): number => (a.tasks[0].id > b.tasks[0].id ? -1 : 1);
const oldestFirst = (a: Head, b: Head): number => newestFirst(b, a);

function headOf(group: Group, [first, ...more]: readonly Found[]): Head[] {
  return first === undefined ? [] : [{ ...group, tasks: [first, ...more] }];
}

/** What a filter names, as rows name it. */
interface Numbers {
  readonly owner: Owner;
  readonly model: number | undefined;
}

/** Returns a function that finds the numbers of what a filter names; undefined where no task has any. */
function prepareNumbers(db: Database) {
  const account = db.prepare<{ number: number }, [AccountId]>("select number from account where id = ?");
  const label = db.prepare<{ number: number }, [ModelId]>("select number from label where text = ?");
  return ({ accountId, model }: ManagedTaskFilter): Numbers | undefined => {
    const owner = accountId === undefined ? null : account.get(accountId)?.number;
    const ofModel = model === undefined ? undefined : label.get(model)?.number;
    if (owner === undefined || (model !== undefined && ofModel === undefined)) return undefined;
    return { owner, model: ofModel };
  };
}

/** Each group of a filter that has tasks, with its first one. */
function headsOf(indexOf: IndexOf, filter: Listing, { owner, model }: Numbers): Head[] {
  const { kind, status, order = "newest", after = ORDERS[order].start as TaskId } = filter;
  const statuses = status === undefined ? TASK_STATUSES : [status];
  const kinds = kind === undefined ? TASK_KINDS : [kind];
  return statuses.flatMap((ofStatus) => {
    const index = indexOf(ofStatus, owner, order);
    const places = index
      .holders(owner, ofStatus)
      .flatMap((holder) => kinds.map((ofKind) => ({ ...holder, status: ofStatus, kind: ofKind })));
    return places.flatMap((place): Head[] => {
      if (model !== undefined) {
        const group = { ...place, model };
        return headOf(group, index.next(group, after, 1));
      }
      return index
        .heads(place, after)
        .flatMap(({ model: ofModel, ...task }) => headOf({ ...place, model: ofModel }, [task]));
    });
  });
}

type IndexOf = ReturnType<typeof prepareIndexes>;

/** Returns a function that tells in which index the tasks of a status are, of an account or of all. */
function prepareIndexes(db: Database) {
  const ordered = (order: ListOrder) =>
    madeAtUse({
      ended: () =>
        prepareGroups(db, `task_ended where ${ENDED} and account_number = ?1 and ?2 is null`, order),
      live: () => ({
        ...prepareGroups(db, `task_live where ${LIVE} and account_number = ?1 and key_label = ?2`, order),
        holders: prepareHolders(db),
      }),
      endedOfAll: () =>
        prepareGroups(db, `task_ended_of_all where ${ENDED} and ?1 is null and ?2 is null`, order),
    });
  const indexes = { newest: ordered("newest"), oldest: ordered("oldest") };
  return (status: TaskStatus, owner: Owner, order: ListOrder) => {
    if (!isTerminal(status)) return indexes[order].live;
    return owner === null ? indexes[order].endedOfAll : indexes[order].ended;
  };
}

/** Statements on one index. Each is a seek, or two for every model. */
function prepareGroups(db: Database, index: string, order: ListOrder) {
  const { beyond, sorting } = ORDERS[order];
  const from = `from task indexed by ${index} and status = ?3 and kind = ?4`;
  const heads = db.prepare<
    Found & Pick<Group, "model">,
    [Owner, key: number | null, TaskStatus, TaskKind, after: TaskId]
  >(
    `with recursive used (model) as (
       select (select model_label ${from} order by model_label limit 1)
       union all
       select (select model_label ${from} and model_label > used.model order by model_label limit 1)
       from used where used.model is not null)
     select used.model, task.id, task.number from used cross join task indexed by ${index} and status = ?3 and kind = ?4
       and task.model_label = used.model and id = (select id ${from} and model_label = used.model and id ${beyond} ?5 order by id ${sorting} limit 1)`,
  );
  const next = db.prepare<
    Found,
    [Owner, key: number | null, TaskStatus, TaskKind, model: number, after: TaskId, limit: number]
  >(`select id, number ${from} and model_label = ?5 and id ${beyond} ?6 order by id ${sorting} limit ?7`);
  return {
    /** By whom groups of a status are told apart. */
    holders: (owner: Owner, _status: TaskStatus): readonly Holder[] => [{ owner, key: null }],
    /** The first task of each model after that one. */
    heads: ({ owner, key, status, kind }: Omit<Group, "model">, after: TaskId) =>
      heads.all(owner, key, status, kind, after),
    next: ({ owner, key, status, kind, model }: Group, after: TaskId, limit: number) =>
      next.all(owner, key, status, kind, model, after, limit),
  };
}

/** Returns a function that steps through the keys with live tasks, of an account or of all. */
function prepareHolders(db: Database) {
  const account = db.prepare<{ number: number }, [after: number]>(
    `select account_number as number from task indexed by task_live
     where ${LIVE} and account_number > ? order by account_number limit 1`,
  );
  const nextKey = db.prepare<{ key: number }, [Owner, TaskStatus, after: number]>(
    `select key_label as key from task indexed by task_live
     where ${LIVE} and account_number = ? and status = ? and key_label > ? order by key_label limit 1`,
  );
  function* accounts(): Generator<number> {
    for (let row = account.get(0); row !== null; row = account.get(row.number)) yield row.number;
  }
  return (given: Owner, status: TaskStatus): readonly Holder[] => {
    const holders: Holder[] = [];
    for (const owner of given === null ? accounts() : [given])
      for (let row = nextKey.get(owner, status, 0); row !== null; row = nextKey.get(owner, status, row.key))
        holders.push({ owner, key: row.key });
    return holders;
  };
}

/** Returns a function that reads the given columns of tasks by their row numbers, in that order. */
export function prepareRows<Row>(db: Database, columns: string): (rows: readonly number[]) => Row[] {
  const statements = madeAtUse({
    byRow: () => db.prepare<Row, [number]>(`select ${columns} from task where number = ?`),
  });
  return (rows) => rows.flatMap((row) => statements.byRow.get(row) ?? []);
}
