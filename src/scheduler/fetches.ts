import type { AccountId, LaneId } from "../domain/ids.ts";
import type { Clock } from "../domain/ports/runtime.ts";
import type { Task } from "../domain/task/task.ts";

/** Most tasks that fetch inputs at once, of one account and in all: the runtime has 256 requests under way at most, providers' included. */
const MOST_OF_ACCOUNT = 8;
const MOST = 128;
/** An account leaves so many times as many free as it has. */
const LEFT_FREE = 8;
/** How soon a task is looked at again that may not fetch yet, and how far apart those of one account are. */
const STAND_BACK_MS = 1_000;
const APART_MS = 20;

/** The tasks that fetch their inputs in this process. An address may answer slowly for minutes, so they take no place of their lane. */
export interface Fetches {
  /** @returns a function that ends it, to be called before the store hears of it; undefined for a task that may not fetch now */
  begin(task: Pick<Task, "accountId" | "lane">): (() => void) | undefined;
  /** When a task that may not fetch now is due again. */
  againAt(task: Pick<Task, "accountId">): number;
  total(): number;
  ofLane(lane: LaneId): number;
}

export function createFetches(clock: Pick<Clock, "now" | "elapsed">): Fetches {
  const ofAccounts = new Map<AccountId, number>();
  const ofLanes = new Map<LaneId, number>();
  /** The latest time that a task of an account was told to be due again, on the clock that is never set. */
  const told = new Map<AccountId, number>();
  let total = 0;

  return {
    begin({ accountId, lane }) {
      const own = ofAccounts.get(accountId) ?? 0;
      if (total >= MOST || own >= MOST_OF_ACCOUNT || own * LEFT_FREE > MOST - total) return undefined;
      total += 1;
      count(ofAccounts, accountId, 1);
      count(ofLanes, lane, 1);
      let isOver = false;
      return () => {
        if (isOver) return;
        isOver = true;
        total -= 1;
        count(ofAccounts, accountId, -1);
        count(ofLanes, lane, -1);
        if (total === 0) told.clear();
      };
    },
    againAt({ accountId }) {
      const elapsed = clock.elapsed();
      const at = Math.max(elapsed + STAND_BACK_MS, (told.get(accountId) ?? 0) + APART_MS);
      told.set(accountId, at);
      return clock.now() + at - elapsed;
    },
    total: () => total,
    ofLane: (lane) => ofLanes.get(lane) ?? 0,
  };
}

function count<Name>(counts: Map<Name, number>, name: Name, change: number): void {
  const left = (counts.get(name) ?? 0) + change;
  if (left === 0) counts.delete(name);
  else counts.set(name, left);
}
