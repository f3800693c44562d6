import type { Account } from "../../../domain/access/account.ts";
import { type Act, ledgerActor } from "../../../domain/access/actor.ts";
import type { TrailNote } from "../../../domain/access/trail.ts";
import type { AccountId, TaskId } from "../../../domain/ids.ts";
import { refundEntry } from "../../../domain/money/ledger.ts";
import { formatAmount, type Micros, toMicros } from "../../../domain/money/money.ts";
import type { Refund } from "../../../domain/ports/account-store.ts";
import type { TaskStatus } from "../../../domain/task/task.ts";
import type { Connection } from "../connection.ts";
import type { Ledger } from "../ledger.ts";
import { REMOVED } from "../task-store/task-table.ts";
import type { Trail } from "../trail.ts";
import { ACCOUNT_ID, accountNumber } from "./account-table.ts";
import type { Accounts } from "./accounts.ts";

export interface Charged {
  readonly account_id: AccountId;
  readonly status: TaskStatus | typeof REMOVED;
  readonly charged_micros: number | null;
}

/** The body of `AccountStore.refund`. */
export function prepareRefund(
  { db }: Connection,
  use: { readonly ledger: Ledger; readonly accounts: Accounts; readonly trail: Trail },
): (task: TaskId, amount: Micros | undefined, reason: string, act: Act) => Refund {
  const chargedFor = db.prepare<Charged, [id: string]>(
    `select ${ACCOUNT_ID} as account_id, status, charged_micros from task where id = ?`,
  );
  const refundOf = db.prepare<{ id: number }, [account: string, task: string]>(
    `select id from ledger_entry where account_number = ${accountNumber("?")}
       and task_number = (select number from task where task.id = ?) and kind = 'refund'`,
  );

  return (id, amount, reason, act) => {
    if (amount !== undefined && amount <= 0) throw new RangeError(`Not an amount to refund: ${amount}`);
    const task = chargedFor.get(id);
    if (task === null) return { kind: "not_found" };
    const charged = toMicros(task.charged_micros ?? 0);
    if (!isCharged(task)) return { kind: "not_charged" };
    if (refundOf.get(task.account_id, id) !== null) return { kind: "already_refunded" };
    if (amount !== undefined && amount > charged) return { kind: "too_much", charged };
    const refunded = amount ?? charged;
    use.ledger.post(task.account_id, [refundEntry(id, refunded, reason, ledgerActor(act.actor))], act.at);
    const after = use.accounts.byId(task.account_id);
    if (after === undefined) throw new Error(`There is no account ${task.account_id}.`);
    use.trail(act, refundNote(id, refunded, reason, after));
    return { kind: "refunded", amount: refunded, account: after };
  };
}

/** The remains of a removed task have a charge only if the task completed. */
export function isCharged({ status, charged_micros }: Charged): boolean {
  return (status === "completed" || status === REMOVED) && (charged_micros ?? 0) !== 0;
}

/** The trail's record of a refund. @param after the account after the refund */
export function refundNote(id: TaskId, refunded: Micros, reason: string, after: Account): TrailNote {
  return {
    action: "task.refund",
    object: { kind: "task", id },
    before: { balance: formatAmount(toMicros(after.balance - refunded)) },
    after: {
      balance: formatAmount(after.balance),
      amount: formatAmount(refunded),
      reason,
      account_id: after.id,
    },
  };
}
