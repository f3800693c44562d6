/** A process that serves a database which several share. */
export interface Node {
  /** Another one for each process. */
  readonly id: string;
  readonly name: string;
  readonly role: "all" | "api" | "worker";
  readonly version: string;
  /** Epoch milliseconds, by the database's clock. */
  readonly startedAt: number;
  /** When it was heard of last, by the database's clock. */
  readonly seenAt: number;
  /** It takes no new tasks, because it was told to stop. */
  readonly isDraining: boolean;
}

/** The nodes that share a database. */
export interface NodeStore {
  /** Adds a node, or says that it is there and what it does. Removes nodes that were not heard of for an hour. */
  beat(node: Omit<Node, "startedAt" | "seenAt">): Promise<void>;
  /** Removes a node that ends. */
  leave(id: string): Promise<void>;
  /** Those that were heard of within an hour, by name, and the database's time. */
  all(): Promise<{ readonly nodes: readonly Node[]; readonly now: number }>;
}

/** How often a node says that it is there. */
export const BEAT_MS = 2_000;
/** A node that was not heard of for this long is gone, or cut off: others take over what it did. */
export const GONE_AFTER_MS = 10_000;
