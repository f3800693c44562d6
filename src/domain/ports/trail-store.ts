import type { Act } from "../access/actor.ts";
import type { TrailEntry, TrailNote } from "../access/trail.ts";

/** Selects entries of the trail, newest first. */
export interface TrailFilter {
  /** A token's id, or the kind of another actor. */
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  /** The id of what was changed. */
  readonly object?: string | undefined;
  /** Noted then or later, in epoch milliseconds. */
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

/** Who changed what. Other stores write it, each with its own changes, in their transactions; nothing changes or removes an entry. */
export interface TrailStore {
  /** Notes a change that is stored nowhere in the database, before it is made. */
  note(act: Act, note: TrailNote): Promise<void>;
  /**
   * Looks at a bounded number of entries where several filters are given, so that a page can be short, even empty, and not be the
   * last.
   */
  page(filter: TrailFilter): Promise<TrailPage>;
}
