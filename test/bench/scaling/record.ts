/** What one thing costs a part of the system, on average. Times are of processors, in microseconds. */
export interface Cost {
  /** So many a second, of all clients. */
  readonly perSecond: number;
  /** Of the nodes that do it. */
  readonly nodeUs: number;
  /** Of each node that only hears of it. */
  readonly hearUs: number;
  readonly databaseUs: number;
  readonly statements: number;
  /** Transactions that write. */
  readonly commits: number;
  /** Written ahead. */
  readonly walBytes: number;
  /** How long a transaction holds the row of its account. */
  readonly heldUs: number;
}

/** What a node does without any task, in a second. */
export interface Idle {
  readonly nodeUs: number;
  readonly databaseUs: number;
  readonly statements: number;
  readonly commits: number;
}

/** What `measure.ts` found on one machine, and what the simulation reads. */
export interface ScalingRecord {
  readonly format: 1;
  readonly takenAt: string;
  /** In words, with what else ran there. */
  readonly machine: string;
  readonly cores: number;
  /** How long one flush of the log ahead takes. */
  readonly flushUs: number;
  /** A statement that is sent alone, in the database; and for each node that listens, what a notification adds. */
  readonly statementUs: number;
  readonly listenUs: number;
  /** Of the program that made the load, for each create. */
  readonly clientUs: number;
  readonly clients: number;
  readonly idle: Idle;
  /** Creates alone, on one node of role `api`, of one account. */
  readonly create: Cost & { readonly p50Ms: number };
  /** From the queue to the end, on one worker and on two, of one account; `nodes` are all that the database has. */
  readonly work: readonly (Cost & { readonly workers: number; readonly nodes: number })[];
}
