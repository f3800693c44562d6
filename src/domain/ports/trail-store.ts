import type { Act } from "../access/actor.ts";
import type { TrailEntry, TrailNote } from "../access/trail.ts";

/** Selects entries of the trail, newest first. */
export interface TrailFilter {
  /** A token's id, or the kind of another actor. */
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  /** The id of what was changed. */
  readonly object?: string | undefined;
  /** Entries written at this time or later, in epoch milliseconds. */
  readonly since?: number | undefined;
  /** Noted before. */
  readonly until?: number | undefined;
  /** ≥ 1. */
  readonly limit: number;
  /** Entries older than the one with this number. */
  readonly after?: number | undefined;
}

/** One page of the trail, newest first. */
export interface TrailPage {
  readonly entries: readonly TrailEntry[];
  /** The number after which the next page begins; absent on the last one. */
  readonly next?: number | undefined;
}

/**
 * Records who changed what. Other stores write the entries together with their own changes, in their transactions. Nothing
 * changes or removes an entry.
 */
export interface TrailStore {
  /** Records a change that the database does not contain, before the change is made. */
  note(act: Act, note: TrailNote): Promise<void>;
  /**
   * With several filters, it looks at a bounded number of entries, so a page can be short, even empty, without being the last.
   */
  page(filter: TrailFilter): Promise<TrailPage>;
}
