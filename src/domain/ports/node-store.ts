/** A process that serves a database together with others. */
export interface Node {
  /** Different for each process. */
  readonly id: string;
  readonly name: string;
  readonly role: "all" | "api" | "worker";
  readonly version: string;
  /** Epoch milliseconds, by the database's clock. */
  readonly startedAt: number;
  /** When it last reported, by the database's clock. */
  readonly seenAt: number;
  /** It takes no new tasks, because it was told to stop. */
  readonly isDraining: boolean;
}

export interface KnownNodes {
  readonly nodes: readonly Node[];
  readonly now: number;
  /** The data folder that the rows of the database were moved to, if they were: nobody may serve it any more. */
  readonly movedTo?: string | undefined;
}

/** The nodes that share a database. */
export interface NodeStore {
  /** Adds a node, or records that it is alive and what it does. Removes nodes that have not reported for an hour. */
  beat(node: Omit<Node, "startedAt" | "seenAt">): Promise<void>;
  /** Removes a node that ends. */
  leave(id: string): Promise<void>;
  /** The nodes that reported within an hour, by name, and the database's time. */
  all(): Promise<KnownNodes>;
  /**
   * The nodes whose processes have connections to the database: of one that is killed, they end at once. Undefined if the database does
   * not show whose they are.
   * @param self the node that asks
   */
  connected(self: string): Promise<ReadonlySet<string> | undefined>;
}

/** How often a node reports that it is alive. */
export const BEAT_MS = 2_000;
/** A node that has not reported for this long is gone or cut off, and others take over its work. */
export const GONE_AFTER_MS = 10_000;
