import type { Database } from "bun:sqlite";
import type { LaneId, TaskId } from "../../../domain/ids.ts";
import { LONGEST_ROW_MS } from "../../../domain/task/setup.ts";
import type { Row, Turns } from "./turns.ts";

/** A task with an open attempt stays with its account. */
export const IS_MOVABLE = `and (attempts = 0 or not exists
  (select 1 from attempt where task_number = task.number and state = 'ambiguous'))`;

/** Every account sorts after it. */
const FIRST = 0;

export type NextReady = ReturnType<typeof prepareNextReady>;

/**
 * Chooses the ready task that a lane starts next. Tasks of one setup run in a row; when the row is over, or none of them is left, the
 * setup that comes next in the index has its turn. Within a row the accounts take turns. All of this is a few seeks in the index
 * of ready tasks, however many tasks, accounts or setups wait. Tasks that need no setup count as of one, the first.
 */
export function prepareNextReady(db: Database, turns: Turns) {
  const [own, movable] = [prepareReady(db), prepareReady(db, IS_MOVABLE)];

  function takeOf(ready: Ready, source: LaneId, setup: string): TaskId | undefined {
    const last = turns.lastServed(source, setup);
    const after = last === undefined ? undefined : ready.ofSetup(source, setup, last);
    const next = after ?? ready.ofSetup(source, setup, FIRST);
    if (next !== undefined) turns.serve(source, setup, next.account_number);
    return next?.id;
  }

  return {
    /** Whether the lane has a ready task that it may start; of a sibling's, one that it may take over. */
    has: (source: LaneId, isSibling: boolean) => (isSibling ? movable : own).firstSetup(source) !== undefined,
    /** Takes the next task of `source` for `lane`, which goes on with its own row there if it can. */
    take(source: LaneId, lane: LaneId, now: number): TaskId | undefined {
      const ready = source === lane ? own : movable;
      const row = turns.rowOf(lane);
      const inRow = row && isUnderWay(row, now) ? takeOf(ready, source, row.setup) : undefined;
      if (inRow !== undefined) return inRow;
      const setup = (row && ready.setupAfter(source, row.setup)) ?? ready.firstSetup(source);
      if (setup === undefined) return undefined;
      turns.begin(lane, { setup, since: now });
      return takeOf(ready, source, setup);
    },
    /** Has a new task of the lane, where none waits, take its turn. */
    takeNew(lane: LaneId, setup: string, account: number, now: number): void {
      const row = turns.rowOf(lane);
      if (row?.setup !== setup || !isUnderWay(row, now)) turns.begin(lane, { setup, since: now });
      turns.serve(lane, setup, account);
    },
  };
}

/** A row that began later than now is over: the clock was set back. */
export function isUnderWay({ since }: Row, now: number): boolean {
  return since <= now && now < since + LONGEST_ROW_MS;
}

type Ready = ReturnType<typeof prepareReady>;

/** Raw statements, each pinned to its partial index: a scan would grow with the table unnoticed. */
function prepareReady(db: Database, also = "") {
  const from = "from task indexed by task_ready where pool = 'ready' and lane = ?1";
  const first = db.prepare<{ setup: string }, [lane: LaneId]>(
    `select setup ${from} ${also} order by setup limit 1`,
  );
  const after = db.prepare<{ setup: string }, [lane: LaneId, after: string]>(
    `select setup ${from} and setup > ?2 ${also} order by setup limit 1`,
  );
  const ofSetup = db.prepare<
    { account_number: number; id: TaskId },
    [lane: LaneId, setup: string, after: number]
  >(
    `select account_number, id ${from} and setup = ?2 and account_number > ?3 ${also} order by account_number, id limit 1`,
  );
  return {
    firstSetup: (lane: LaneId) => first.get(lane)?.setup,
    setupAfter: (lane: LaneId, setup: string) => after.get(lane, setup)?.setup,
    ofSetup: (...of: [lane: LaneId, setup: string, after: number]) => ofSetup.get(...of) ?? undefined,
  };
}
