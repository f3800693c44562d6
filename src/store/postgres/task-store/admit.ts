import { holdableOf } from "../../../domain/access/account.ts";
import type { AccountId } from "../../../domain/ids.ts";
import { type Micros, toMicros } from "../../../domain/money/money.ts";
import type { Admission, AdmitAllResult, AdmitResult, TaskStore } from "../../../domain/ports/task-store.ts";
import { type Allowance, leftOf } from "../../sqlite/quota-allowance.ts";
import { readUse } from "../../sqlite/task-store/idempotency.ts";
import type { Connection } from "../connection.ts";
import { prepareGathered } from "../gathered.ts";
import type { Labels } from "../labels.ts";
import type { Ledger } from "../ledger.ts";
import { allowanceOf } from "../quota-allowance.ts";
import type { Session } from "../session.ts";
import { type AdmitStanding, placeOf, readStanding } from "./admit-standing.ts";
import { AdmittedRows } from "./admitted-rows.ts";
import { type PreparedAdmission, prepareAdmission } from "./new-task.ts";

interface Parts {
  readonly labels: Labels;
  readonly ledger: Ledger;
}

/** The body of `TaskStore.admit`. Creates of one account that wait together are written together. */
export function prepareAdmit(connection: Connection, parts: Parts): TaskStore["admit"] {
  const admit = prepareGathered(connection, {
    prepare: (admission: Admission) => prepareAdmission(parts, admission),
    async run(session, of, all) {
      const admitting = new Admitting(session, await readStanding(session, of, all));
      const results: AdmitResult[] = [];
      for (const prepared of all) results.push(await admitting.decide(prepared));
      await admitting.write();
      return results;
    },
  });
  return (admission) => admit(admission.task.accountId, admission);
}

/** Undoes what was admitted before it. */
class Refused extends Error {
  constructor(readonly refusal: AdmitAllResult) {
    super("a task of a group is refused");
  }
}

/** The body of `TaskStore.admitAll`. All tasks are of one account. */
export function prepareAdmitAll({ writeFor }: Connection, parts: Parts): TaskStore["admitAll"] {
  return async (admissions) => {
    const of = admissions[0]?.task.accountId;
    if (of === undefined) return { kind: "accepted", results: [] };
    try {
      return await writeFor(of, async (session) => {
        const all = await Promise.all(admissions.map((admission) => prepareAdmission(parts, admission)));
        return admitTogether(session, of, all);
      });
    } catch (error) {
      if (error instanceof Refused) return error.refusal;
      throw error;
    }
  };
}

async function admitTogether(
  session: Session,
  of: AccountId,
  all: readonly PreparedAdmission[],
): Promise<AdmitAllResult> {
  const admitting = new Admitting(session, await readStanding(session, of, all));
  const results: AdmitResult[] = [];
  for (const [place, prepared] of all.entries()) {
    if (prepared.admission.task.accountId !== of) throw new Error("A group is of one account.");
    const result = await admitting.decide(prepared);
    const isLikeOthers = result.kind === (results[0]?.kind ?? result.kind);
    if (!isLikeOthers || (result.kind !== "admitted" && result.kind !== "replayed")) {
      const refusal = { kind: "refused", place, result } as const;
      if (admitting.hasWritten) throw new Refused(refusal);
      return refusal;
    }
    results.push(result);
  }
  await admitting.write();
  return { kind: "accepted", results };
}

/**
 * Decides on creates of one account, one after the other. Its caller holds the account's row, so that nobody else does meanwhile. What
 * decides is read before the first one, and what is admitted is written after the last one.
 */
class Admitting {
  readonly #rows: AdmittedRows;
  #funds: AdmitStanding["funds"];
  readonly #used: Map<string, Parameters<typeof readUse>[0]>;
  readonly #live: Map<number, number>;
  readonly #uses: Map<string, Pick<Allowance, "used" | "reserved">>;

  constructor(
    private readonly session: Session,
    { funds, used, live, uses }: AdmitStanding,
  ) {
    this.#rows = new AdmittedRows(session, funds.number);
    this.#funds = funds;
    [this.#used, this.#live, this.#uses] = [new Map(used), new Map(live), new Map(uses)];
  }

  get hasWritten(): boolean {
    return this.#rows.hasWritten;
  }

  write(): Promise<void> {
    return this.#rows.write();
  }

  async decide(prepared: PreparedAdmission): Promise<AdmitResult> {
    const { admission, record, keyLabel } = prepared;
    const { task, idempotency, concurrency } = admission;
    const row = record && this.#used.get(record.digest);
    const use = idempotency && row && readUse(row, idempotency, task.createdAt);
    if (use !== undefined) return use;
    const live = this.#live.get(keyLabel);
    if (concurrency !== undefined && (live ?? 0) >= concurrency) return { kind: "too_many_tasks" };
    const allowance = await this.#allowance(prepared);
    const isOverQuota = allowance !== undefined && leftOf(allowance) < task.held;
    if (isOverQuota || (task.held > 0 && this.#available() < task.held))
      return this.#shortage(task.held, allowance);
    if (live !== undefined) this.#live.set(keyLabel, live + 1);
    if (record !== undefined) this.#used.set(record.digest, record);
    return { kind: "admitted", isLow: this.#admit(prepared, allowance) };
  }

  #available(): number {
    return holdableOf(this.#funds);
  }

  /** @returns whether the balance is now low for the first time */
  #admit(prepared: PreparedAdmission, allowance: Allowance | undefined): boolean {
    const { held } = prepared.admission.task;
    if (allowance !== undefined) {
      const { used, reserved } = allowance;
      this.#uses.set(placeOf(allowance), { used, reserved: toMicros(reserved + held) });
    }
    const { low } = this.#funds;
    const available = this.#funds.available - held;
    const isLow = held > 0 && low !== null && available < low;
    this.#funds = { ...this.#funds, available, low: isLow ? null : low };
    this.#rows.add(prepared, { allowance, isLow });
    return isLow;
  }

  async #allowance({ admission: { task, quota } }: PreparedAdmission): Promise<Allowance | undefined> {
    if (quota === undefined || task.held === 0) return undefined;
    const { accountId, keyId } = task;
    const use = this.#uses.get(placeOf({ keyId, period: quota.period }));
    if (use !== undefined) return { accountId, keyId, ...quota, ...use, isCounted: true };
    // What a period begins with counts what is stored.
    await this.#rows.write();
    return allowanceOf(this.session, task, quota);
  }

  #shortage(needed: Micros, allowance: Allowance | undefined): AdmitResult {
    const balance = this.#available();
    const quota = allowance === undefined ? Number.POSITIVE_INFINITY : leftOf(allowance);
    const [limitedBy, available] =
      balance <= quota ? (["balance", balance] as const) : (["key_quota", quota] as const);
    return { kind: "insufficient_quota", limitedBy, available: toMicros(available), needed };
  }
}
