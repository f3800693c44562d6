import type { AuditReport } from "../../domain/ports/audit.ts";
import type { MovedRow, MovedTable, Place } from "./tables.ts";

/** The rows of a move are not where, or as, they have to be. Nothing of the source was changed. */
export class MoveError extends Error {
  override readonly name = "MoveError";
  constructor(
    /**
     * `not_empty` the target has rows of its own · `in_use` a server uses the database · `another` an unfinished move from elsewhere
     * came here, or one runs at this moment · `unstorable` a text that the target cannot have · `differs` what came is not what left.
     */
    readonly kind: "not_empty" | "in_use" | "another" | "unstorable" | "differs",
    message: string,
  ) {
    super(message);
  }
}

/** Times in which tasks that ended were not counted in the usage of their days. */
export interface Uncounted {
  readonly fromAt: number;
  readonly untilAt: number;
}

/** Some rows, and where the next ones begin. */
export interface Slice {
  readonly rows: readonly MovedRow[];
  readonly place: Place | undefined;
}

/** What only one moment of a database tells: nobody writes to it meanwhile. */
export interface Source {
  /** Differs between databases that were made apart. */
  readonly id: string;
  count(table: MovedTable): Promise<number>;
  /** The rows after a place, from the first one unless given. */
  rows(table: MovedTable, after: Place | undefined, limit: number): Promise<Slice>;
  uncounted(): Promise<Uncounted | undefined>;
  audit(): Promise<AuditReport>;
  /** Says in the database that its rows are at the target, which may be served from now on. @throws MoveError `in_use` */
  leave?(): Promise<void>;
  stop(): Promise<void>;
}

/** How far the rows of a table have come. */
export interface Progress {
  readonly place: Place | undefined;
  readonly rows: number;
  readonly isDone: boolean;
}

export interface Target {
  /**
   * Begins, or goes on with what was begun before.
   *
   * @returns whether everything is there already
   * @throws MoveError `not_empty`, `another`, `in_use`
   */
  begin(sourceId: string, tables: readonly MovedTable[]): Promise<boolean>;
  progress(table: MovedTable): Promise<Progress>;
  /** Stores rows and where the next ones begin, at once. @throws MoveError `another` when they do not follow what is there */
  put(table: MovedTable, rows: readonly MovedRow[], before: Progress, after: Progress): Promise<void>;
  count(table: MovedTable): Promise<number>;
  /** Sets what is counted on from, once all rows are there. It may be called again. */
  settle(uncounted: Uncounted | undefined): Promise<void>;
  audit(): Promise<AuditReport>;
  /** Lets the database be served. */
  finish(): Promise<void>;
  stop(): Promise<void>;
}
