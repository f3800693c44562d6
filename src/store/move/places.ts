import type { AuditReport } from "../../domain/ports/audit.ts";
import type { MovedRow, MovedTable, Place } from "./tables.ts";

/** The rows of a move are not in the required state or place. Nothing of the source was changed. */
export class MoveError extends Error {
  override readonly name = "MoveError";
  constructor(
    /**
     * `not_empty` the target has rows of its own · `in_use` a server uses the database · `another` an unfinished move from
     * another source came here, or another move is running · `unstorable` a text that the target cannot store · `differs` the
     * arrived rows differ from those of the source.
     */
    readonly kind: "not_empty" | "in_use" | "another" | "unstorable" | "differs",
    message: string,
  ) {
    super(message);
  }
}

/** Periods in which tasks ended without being counted in the usage of their days. */
export interface Uncounted {
  readonly fromAt: number;
  readonly untilAt: number;
}

/** Some rows, and where the next ones begin. */
export interface Slice {
  readonly rows: readonly MovedRow[];
  readonly place: Place | undefined;
}

/** Reads the rows of a table after a place; from the first row unless given. */
export type ReadRows = (table: MovedTable, after: Place | undefined, limit: number) => Promise<Slice>;

/** Facts that hold only for one moment of a database; nobody may write to it meanwhile. */
export interface Source {
  /** Differs between databases that were created independently. */
  readonly id: string;
  /** Whether the database says already that its rows are at the target. */
  readonly hasLeft?: boolean;
  count(table: MovedTable): Promise<number>;
  readonly rows: ReadRows;
  uncounted(): Promise<Uncounted | undefined>;
  audit(): Promise<AuditReport>;
  /** Records in the database that its rows are at the target, which may be served from now on. @throws MoveError `in_use` */
  readonly leave?: (() => Promise<void>) | undefined;
  stop(): Promise<void>;
}

/** How many rows of a table have arrived. */
export interface Progress {
  readonly place: Place | undefined;
  readonly rows: number;
  readonly isDone: boolean;
}

export interface Target {
  /**
   * Begins a move, or continues one that was begun before.
   *
   * @returns whether everything has arrived already
   * @throws MoveError `not_empty`, `another`, `in_use`
   */
  begin(sourceId: string, tables: readonly MovedTable[]): Promise<boolean>;
  progress(table: MovedTable): Promise<Progress>;
  /**
   * Stores rows and where the next ones begin, at once. @throws MoveError `another` when they do not follow the rows that have
   * arrived
   */
  put(table: MovedTable, rows: readonly MovedRow[], before: Progress, after: Progress): Promise<void>;
  count(table: MovedTable): Promise<number>;
  readonly rows: ReadRows;
  /** Sets the numbers from which counters continue, after all rows have arrived. It may be called again. */
  settle(uncounted: Uncounted | undefined): Promise<void>;
  audit(): Promise<AuditReport>;
  /** Lets the database be served. */
  finish(): Promise<void>;
  stop(): Promise<void>;
}
