import { ledgerActor } from "../../../domain/access/actor.ts";
import type { TaskId } from "../../../domain/ids.ts";
import { refundEntry } from "../../../domain/money/ledger.ts";
import { toMicros } from "../../../domain/money/money.ts";
import type { AccountStore, Refund } from "../../../domain/ports/account-store.ts";
import { ACCOUNT_ID, accountNumber } from "../../sqlite/account-store/account-table.ts";
import { type Charged, isCharged, refundNote } from "../../sqlite/account-store/refund.ts";
import type { Ledger } from "../ledger.ts";
import { type Session, statement } from "../session.ts";
import { writeTrail } from "../trail.ts";
import { findAccount } from "./accounts.ts";

const CHARGED_FOR = statement<Charged, [id: string]>(
  `select ${ACCOUNT_ID} as account_id, status, charged_micros from task where id = $1`,
);
const REFUND_OF = statement<{ id: number }, [account: string, task: string]>(
  `select id from ledger_entry where account_number = ${accountNumber("$1")}
     and task_number = (select number from task where task.id = $2) and kind = 'refund'`,
);

/** The charge of a task, and its account, which never changes. */
export const chargedFor = (session: Session, id: TaskId): Promise<Charged | undefined> =>
  CHARGED_FOR.get(session, id);

/** Returns the body of `AccountStore.refund`. It holds the row of the task's account (`writeFor`). */
export function prepareRefund({ ledger }: { readonly ledger: Ledger }) {
  return async function refund(
    session: Session,
    [id, amount, reason, act]: Parameters<AccountStore["refund"]>,
  ): Promise<Refund> {
    const task = await chargedFor(session, id);
    if (task === undefined) return { kind: "not_found" };
    const charged = toMicros(task.charged_micros ?? 0);
    if (!isCharged(task)) return { kind: "not_charged" };
    if ((await REFUND_OF.get(session, task.account_id, id)) !== undefined)
      return { kind: "already_refunded" };
    if (amount !== undefined && amount > charged) return { kind: "too_much", charged };
    const refunded = amount ?? charged;
    const entry = refundEntry(id, refunded, reason, ledgerActor(act.actor));
    await ledger.post(session, task.account_id, [entry], act.at);
    const after = await findAccount(session, task.account_id);
    if (after === undefined) throw new Error(`There is no account ${task.account_id}.`);
    await writeTrail(session, act, refundNote(id, refunded, reason, after));
    return { kind: "refunded", amount: refunded, account: after };
  };
}
