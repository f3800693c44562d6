import type { LaneId, TaskId } from "../../../domain/ids.ts";
import { IS_MOVABLE } from "../../sqlite/task-store/next-ready.ts";
import { type Session, statement } from "../session.ts";

/** Ready tasks of an account, oldest first. */
export interface ReadyOfAccount {
  readonly number: number;
  readonly ids: TaskId[];
  /** The last one that was read. */
  last: TaskId | undefined;
  /** Whether there may be more after it. */
  hasMore: boolean;
}

/** The ready tasks of one setup that come next, by account. */
export interface ReadyWindow {
  /** The account that was served last; 0 for none. */
  readonly served: number;
  readonly accounts: readonly ReadyOfAccount[];
}

interface WindowRow {
  readonly served: number;
  readonly number: number;
  readonly id: TaskId;
  readonly most: number;
}

type Setup = { readonly setup: string };

/** All ready tasks of a lane, or those that a sibling may take over. */
export type ReadyTasks = ReturnType<typeof readyTasks>;

/** The tasks that a lane may start itself. */
export const OWN = readyTasks("");
/** The tasks of a lane that another account of its provider may start. */
export const MOVABLE = readyTasks(IS_MOVABLE);

/**
 * Reads what `claim` chooses from. Each statement goes from account to account, or from setup to setup, in the index of ready tasks,
 * and reads about as many tasks as can be taken.
 */
function readyTasks(also: string) {
  const from = "from task where pool = 'ready' and lane = $1";
  const first = statement<Setup, [lane: LaneId]>(`select setup ${from} ${also} order by setup limit 1`);
  const after = statement<Setup, [lane: LaneId, after: string]>(
    `select setup ${from} and setup > $2 ${also} order by setup limit 1`,
  );
  const more = statement<
    { id: TaskId },
    [lane: LaneId, setup: string, account: number, after: string, most: number]
  >(`select id ${from} and setup = $2 and account_number = $3 and id > $4 ${also} order by id limit $5`);
  return {
    firstSetup: async (session: Session, lane: LaneId) => (await first.get(session, lane))?.setup,
    setupAfter: async (session: Session, lane: LaneId, setup: string) =>
      (await after.get(session, lane, setup))?.setup,
    /** Reads `most` tasks more than an account has in a window. */
    async more(session: Session, of: { lane: LaneId; setup: string; account: ReadyOfAccount; most: number }) {
      const { lane, setup, account, most } = of;
      const rows = await more.all(session, lane, setup, account.number, account.last ?? "", most);
      account.hasMore = rows.length === most;
      account.last = rows.at(-1)?.id ?? account.last;
      account.ids.push(...rows.map(({ id }) => id));
    },
    window: prepareWindow(also),
  };
}

/** Returns a function that reads at least as many tasks as can be taken, where there are as many. */
function prepareWindow(also: string) {
  const ready = `from task where pool = 'ready' and lane = $1 and setup = $2 ${also}`;
  const next = (above: string) =>
    `(select account_number ${ready} and account_number > ${above} order by account_number limit 1)`;
  const LAST = "(select last from served)";
  const find = statement<WindowRow, [lane: LaneId, setup: string, most: number]>(
    `with recursive served (last) as (
       select coalesce((select account_number from lane_turn where lane = $1 and setup = $2), 0)
     ), later (number, place) as (
       select ${next(LAST)}, 1
       union all select ${next("later.number")}, place + 1 from later where number is not null and place < $3::bigint
     ), earlier (number, place) as (
       select ${next("0")}, 1
       union all select ${next("earlier.number")}, place + 1 from earlier where number <= ${LAST} and place < $3::bigint
     ), taking_turns (number) as (
       select number from later where number is not null union select number from earlier where number <= ${LAST}
     ), each_has (most) as (
       select ($3::bigint + count(*) - 1) / greatest(count(*), 1) from taking_turns
     )
     select ${LAST} as served, number, ready.id, (select most from each_has) as most
     from taking_turns cross join lateral (
       select id ${ready} and account_number = taking_turns.number order by id limit (select most from each_has)
     ) as ready order by number, ready.id`,
  );
  return async (session: Session, lane: LaneId, setup: string, most: number): Promise<ReadyWindow> => {
    const rows = await find.all(session, lane, setup, most);
    const accounts = Map.groupBy(rows, ({ number }) => number);
    return {
      served: rows[0]?.served ?? 0,
      accounts: [...accounts].map(([number, of]) => ({
        number,
        ids: of.map(({ id }) => id),
        hasMore: of.length === rows[0]?.most,
        last: of.at(-1)?.id,
      })),
    };
  };
}
