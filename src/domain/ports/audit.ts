import type { AccountId, KeyId, ModelId, TaskId } from "../ids.ts";

/** Every stored figure of the books, with the value that it must have. */
export const AUDIT_CHECKS = {
  account_balance: "an account's balance is the sum of its ledger",
  account_held: "what an account holds is the sum of its ledger's holds, captures and releases",
  account_live: "what an account holds is the sum of its live tasks' prices",
  account_limit: "a prepaid account holds no more than it has, its credit limit included",
  ledger_orphan:
    "a ledger entry of a task is of a task of that account, and any other entry is a credit, an adjustment, or a sum of deleted tasks",
  ledger_shape: "a ledger entry moves balance and holds as its kind does",
  task_hold: "a task's price is held once",
  task_capture: "a task that ended was charged what it says, and a live one nothing",
  task_release: "what a task that ended did not cost was given back, and nothing of a live one",
  task_charge: "a charge is the sum of its lines",
  task_refund: "no more than its charge is given back for a task",
  sums_charged: "the sums of deleted tasks' entries are what the sums of their days say",
  sums_shape: "a sum of deleted tasks has no more completed ones than tasks and outputs, and no cost of none",
  sums_held: "what deleted tasks held is in the sums no more",
  quota_reserved: "what a key has reserved of its quota is the sum of its live tasks' prices in that period",
  quota_used: "what a key has used of its quota is the sum of its charges in that period",
  usage_tasks: "the usage of a day counts each task that ended on it once",
  usage_outputs: "the usage of a day counts what was delivered on it",
  usage_charged: "the usage of a day is the sum of its charges",
  callback_owed:
    "a task that completed or failed and has an address to tell has a callback, and no other has",
  callback_attempts: "the attempts of a callback are as many as were recorded",
  sealed_tasks: "tasks that an audit has verified are as they were",
  sealed_entries: "ledger entries that an audit has verified are as they were",
} as const;
export type AuditCheck = keyof typeof AUDIT_CHECKS;

/** A figure that differs from its right value. */
export interface AuditDifference {
  readonly check: AuditCheck;
  readonly accountId?: AccountId | undefined;
  readonly keyId?: KeyId | undefined;
  readonly taskId?: TaskId | undefined;
  readonly model?: ModelId | undefined;
  /** First day of a quota's period, or a day of usage, counted from 1970-01-01 UTC. */
  readonly day?: number | undefined;
  /** Number of a ledger entry; of a page, its first one. */
  readonly entry?: number | undefined;
  /** Micro-units; of `usage_tasks`, `usage_outputs` and callbacks, a count; of a sealed page, its checksum. */
  readonly stored: bigint;
  readonly expected: bigint;
}

/**
 * What is done with rows that an earlier audit has verified and sealed. `checksums` reads them, and compares the checksum of each page with
 * its seal · `new` takes seals at their word, and reads none of these rows · `full` checks them again as if there were no seals.
 */
export const AUDIT_DEPTHS = ["checksums", "new", "full"] as const;
export type AuditDepth = (typeof AUDIT_DEPTHS)[number];

export interface AuditReport {
  /** How many rows there are. */
  readonly rows: {
    readonly accounts: number;
    readonly ledgerEntries: number;
    readonly tasks: number;
    readonly liveTasks: number;
    readonly quotas: number;
    readonly usageDays: number;
  };
  /** Micro-units of all accounts together, which may be more than any `Micros`; `balance` is `credited − captured + refunded`. */
  readonly sums: {
    readonly credited: bigint;
    readonly captured: bigint;
    readonly refunded: bigint;
    readonly balance: bigint;
    readonly held: bigint;
  };
  /** The first difference of each check, in the order of the checks; empty when the books add up. */
  readonly differences: readonly AuditDifference[];
  readonly sealed: SealedRows;
}

/** What was not checked in full, because it was sealed. */
export interface SealedRows {
  readonly depth: AuditDepth;
  readonly tasks: number;
  readonly ledgerEntries: number;
}

/** The tables whose rows are sealed, by pages of their numbers. */
export type SealedTable = "task" | "ledger_entry";

/** A page that was verified, to be stored. */
export interface NewSeal {
  readonly table: SealedTable | "label" | "sums";
  readonly page: number;
  /** How often its rows were changed by retention, as the audit saw it. A seal of a page that was changed since is not stored. */
  readonly generation: number;
  /** Its figures as JSON. */
  readonly figures: string;
}

export interface AuditOutcome {
  readonly report: AuditReport;
  /** What can be sealed now; nothing unless the books add up. */
  readonly seals: readonly NewSeal[];
}

/** Recomputes every figure of the books from its sources. */
export interface Audit {
  /** Reads a single moment of the database, whatever is written meanwhile. Changes nothing. @param depth `checksums` unless given */
  run(depth?: AuditDepth): Promise<AuditReport>;
  /** Like `run`; also returns the seals that can be stored now. */
  examine(depth?: AuditDepth): Promise<AuditOutcome>;
  stop(): void;
}
