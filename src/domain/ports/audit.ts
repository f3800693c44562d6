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
  /** Number of a ledger entry. */
  readonly entry?: number | undefined;
  /** Micro-units; of `usage_tasks`, `usage_outputs` and callbacks, a count. */
  readonly stored: bigint;
  readonly expected: bigint;
}

export interface AuditReport {
  /** How many rows were read. */
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
}

/** Recomputes every figure of the books from its sources. */
export interface Audit {
  /** Reads a single moment of the database, whatever is written meanwhile. Changes nothing. */
  run(): Promise<AuditReport>;
  stop(): void;
}
