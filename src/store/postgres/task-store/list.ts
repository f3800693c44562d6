import type { ListOrder, ManagedTaskFilter } from "../../../domain/ports/task-store.ts";
import { TASK_KINDS } from "../../../domain/task/request.ts";
import { isTerminal, TASK_STATUSES } from "../../../domain/task/task.ts";
import { ENDED, LIVE } from "../../sqlite/task-store/task-table.ts";
import { type Session, type Statement, statement } from "../session.ts";
import { steps } from "./steps.ts";

/** Which ids come after a task's, in which order they are read, and where a listing begins: before, or after, every id. */
const ORDERS = {
  newest: { beyond: "<", sorting: "desc", start: "~" },
  oldest: { beyond: ">", sorting: "asc", start: "" },
} as const satisfies Record<ListOrder, object>;

/** A filter, and in which order its tasks are listed; the newest first unless given. */
export type Listing = Omit<ManagedTaskFilter, "text"> & { readonly order?: ListOrder | undefined };

/** What the text of a statement depends on. */
interface Shape {
  readonly columns: string;
  readonly order: ListOrder;
  readonly isOfOne: boolean;
  readonly isOfModel: boolean;
  readonly parts: readonly Part[];
}

/** Ended tasks and live ones are in indexes of their own. */
type Part = "ended" | "live";

type Values = [
  account: string | null,
  after: string,
  limit: number,
  kinds: readonly string[],
  ended: readonly string[],
  live: readonly string[],
  model: string | null,
];

const STATUSES = { ended: "$5::text[]", live: "$6::text[]" } as const satisfies Record<Part, string>;

/** Says the type of each parameter: not every statement names all of them. */
const GIVEN = "select $1::text, $2::text, $3::bigint, $4::text[], $5::text[], $6::text[], $7::text";

/**
 * Returns a function that reads the first tasks of a filter, in order, with the columns that are given, in one statement. It seeks the
 * first task of each group that the filter admits, and merges the groups: a group is the tasks of one status, kind and model, of an
 * account or of all; an account's live ones are in groups by key as well. So a page costs two seeks for each model that was ever used, and
 * of live tasks, for each in use now, and of each at most as many entries of an index as the page is long, however many tasks there are
 * and however few of them match.
 */
export function prepareList<Row>(columns: string): (session: Session, filter: Listing) => Promise<Row[]> {
  const known = new Map<string, Statement<Row, Values>>();
  return (session, filter) => {
    const { accountId, model, kind, status, limit, order = "newest" } = filter;
    const statuses = status === undefined ? TASK_STATUSES : [status];
    const ended = statuses.filter(isTerminal);
    const live = statuses.filter((each) => !isTerminal(each));
    const parts = (["ended", "live"] as const).filter((part) => (part === "ended" ? ended : live).length > 0);
    const shape = { columns, order, isOfOne: accountId !== undefined, isOfModel: model !== undefined, parts };
    const select = known.getOrInsertComputed(
      [order, shape.isOfOne, shape.isOfModel, ...parts].join(" "),
      () => statement<Row, Values>(textOf(shape)),
    );
    const after = filter.after ?? ORDERS[order].start;
    const kinds = kind === undefined ? TASK_KINDS : [kind];
    return select.all(session, accountId ?? null, after, limit, kinds, ended, live, model ?? null);
  };
}

/**
 * The statement. No more groups than the page has tasks can have a part in it, and of each no more tasks. To stop a group's reading
 * where others fill the page would need a second bound of its ids: the planner takes what lies between two ids for few, and may read all
 * of it to sort it.
 */
function textOf(shape: Shape): string {
  const { beyond, sorting } = ORDERS[shape.order];
  const heads = shape.parts.map((part) => headsOf(shape, part)).join(" union all ");
  const each = shape.parts.map(
    (part) => `(select id from task where head.part = '${part}' and ${ofGroup(shape, part, "head")}
       and task.model_label = head.model_label and id ${beyond} $2 order by id ${sorting} limit $3)`,
  );
  return `with given as (${GIVEN}), head as materialized (select * from (${heads}) as each order by id ${sorting} limit $3),
    page as materialized (select found.id from head cross join lateral (${each.join(" union all ")}) as found
      order by found.id ${sorting} limit $3)
    select ${shape.columns} from task where id = any (array(select page.id from page)) order by id ${sorting}`;
}

/** The condition that a task is in a group but for its model, as SQL; the group is a row of that name. */
function ofGroup({ isOfOne }: Shape, part: Part, group: string): string {
  const columns = isOfOne ? ["account_number", "status", "kind"] : ["status", "kind"];
  if (isOfOne && part === "live") columns.push("key_label");
  const same = columns.map((column) => `${column} = ${group}.${column}`).join(" and ");
  return `${part === "live" ? LIVE : ENDED} and ${same}`;
}

/** Each group of a part with its first task. */
function headsOf(shape: Shape, part: Part): string {
  const { beyond, sorting } = ORDERS[shape.order];
  const isIn = ofGroup(shape, part, "place");
  const models = shape.isOfModel
    ? "select number as model_label from label where text = $7"
    : steps("model_label", isIn);
  return `select '${part}' as part, place.*, used.model_label, first.id
    from (${shape.isOfOne && part === "live" ? placesByKey() : places(shape, part)}) as place
    cross join lateral (${models}) as used
    cross join lateral (select id from task where ${isIn} and model_label = used.model_label and id ${beyond} $2
      order by id ${sorting} limit 1) as first`;
}

function places({ isOfOne }: Shape, part: Part): string {
  const owner = isOfOne ? "(select number from account where id = $1)" : "null::bigint";
  return `select ${owner} as account_number, null::bigint as key_label, status, kind
    from unnest(${STATUSES[part]}) as a (status) cross join unnest($4::text[]) as b (kind)`;
}

/** By the keys of an account with live tasks. */
function placesByKey(): string {
  const isIn = `${LIVE} and account_number = owner.number and status = a.status`;
  return `select owner.number as account_number, holder.key_label, a.status, b.kind
    from (select number from account where id = $1) as owner cross join unnest(${STATUSES.live}) as a (status)
    cross join lateral (${steps("key_label", isIn)}) as holder cross join unnest($4::text[]) as b (kind)`;
}
