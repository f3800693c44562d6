import type { ScalingRecord } from "./record.ts";

/** What the parts of a task take, in microseconds of a processor unless said otherwise. Made of a record by `fit`. */
export interface ServiceTimes {
  readonly clientUs: number;
  readonly createNodeUs: number;
  /** Of the node that makes a task, from the claim to the end. */
  readonly workNodeUs: number;
  /** Of each node that hears of a task. */
  readonly hearUs: number;
  /** In the database, for each transaction, and for each create or step of a task in it. */
  readonly transactionUs: number;
  readonly createRowsUs: number;
  readonly stepRowsUs: number;
  /** Single statements beside transactions, for each create and each task. */
  readonly createAside: number;
  readonly workAside: number;
  readonly statementUs: number;
  readonly listenUs: number;
  /** Not of a processor: one flush of the log. */
  readonly flushUs: number;
  /** Not of a processor: from a node to the database and back. */
  readonly roundTripUs: number;
  /** What a node asks for without any task, a second. */
  readonly idleNodeUs: number;
  readonly idleStatements: number;
  readonly idleDatabaseUs: number;
}

/** Steps of a task that a worker writes: it begins, and it ends. */
export const STEPS = 2;
/** Statements of a transaction that wait for the one before: begin and hold, write, commit. */
export const ROUND_TRIPS = 3;

/** Makes service times of what was measured. What a transaction costs by itself is taken to be what a statement of each round trip costs. */
export function fit(record: ScalingRecord, roundTripUs: number): ServiceTimes {
  const { create, work, idle, statementUs } = record;
  const transactionUs = ROUND_TRIPS * statementUs;
  const mean = (of: (each: (typeof work)[number]) => number) =>
    work.reduce((sum, each) => sum + of(each), 0) / work.length;
  const aside = (cost: { statements: number; commits: number }) =>
    Math.max(0, cost.statements - (ROUND_TRIPS + 1) * cost.commits);
  const rows = (cost: { databaseUs: number; statements: number; commits: number }) =>
    Math.max(0, cost.databaseUs - cost.commits * transactionUs - aside(cost) * statementUs);
  return {
    clientUs: record.clientUs,
    createNodeUs: create.nodeUs,
    workNodeUs: mean(({ nodeUs }) => nodeUs),
    hearUs: mean(({ hearUs }) => hearUs),
    transactionUs,
    createRowsUs: rows(create),
    stepRowsUs: mean(rows) / STEPS,
    createAside: aside(create),
    workAside: mean(aside),
    statementUs,
    listenUs: record.listenUs,
    flushUs: record.flushUs,
    roundTripUs,
    idleNodeUs: idle.nodeUs,
    idleStatements: idle.statements,
    idleDatabaseUs: idle.databaseUs,
  };
}
