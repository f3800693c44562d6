import type { LaneId } from "../../../domain/ids.ts";

/** Tasks of one setup that a lane starts one after the other. */
export interface Row {
  readonly setup: string;
  /** When it began. */
  readonly since: number;
}

/** Whose turn it is in each lane. It is kept in memory only, so the turns start anew after a restart. */
export class Turns {
  readonly #rows = new Map<LaneId, Row>();
  readonly #served = new Map<LaneId, Map<string, number>>();

  /** The latest row of a lane, which may be over. */
  rowOf(lane: LaneId): Row | undefined {
    return this.#rows.get(lane);
  }

  /** The number of the account whose task was the last to start of those of a setup that wait for a lane. Its next turn comes after those of all others. */
  lastServed(lane: LaneId, setup: string): number | undefined {
    return this.#served.get(lane)?.get(setup);
  }

  begin(lane: LaneId, row: Row): void {
    this.#rows.set(lane, row);
  }

  /** Each setup has its own turns: an account that always comes first in one must not miss those of another. */
  serve(lane: LaneId, setup: string, account: number): void {
    this.#served.getOrInsertComputed(lane, () => new Map()).set(setup, account);
  }
}
