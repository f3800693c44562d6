import { type Account, availableOf } from "../../../domain/access/account.ts";
import { type Act, ledgerActor } from "../../../domain/access/actor.ts";
import type { AccountId } from "../../../domain/ids.ts";
import { beginningOf } from "../../../domain/lists.ts";
import { creditEntry } from "../../../domain/money/ledger.ts";
import type {
  AccountChange,
  AccountStore,
  Credit,
  ListPage,
  NewAccount,
} from "../../../domain/ports/account-store.ts";
import { type AccountRow, toAccount } from "../../sqlite/account-store/account-table.ts";
import { LOW_ACCOUNTS } from "../../sqlite/account-store/accounts.ts";
import type { creditKey } from "../../sqlite/account-store/credit-key-table.ts";
import { accountChanged, accountCredited, accountMade } from "../../sqlite/account-store/notes.ts";
import { AVAILABLE } from "../../sqlite/account-sums.ts";
import type { RawRow } from "../../sqlite/raw-row.ts";
import type { Ledger } from "../ledger.ts";
import { type Parameter, type Session, statement } from "../session.ts";
import { writeTrail } from "../trail.ts";

const BY_ID = statement<AccountRow, [id: string]>("select * from account where id = $1");
const BY_ID_OR_NAME = statement<AccountRow, [idOrName: string]>(
  "select * from account where id = $1 or name = $1 order by id = $1 desc limit 1",
);
const PAGE = {
  asc: statement<AccountRow, [after: string, limit: number]>(
    "select * from account where id > $1 order by id limit $2",
  ),
  desc: statement<AccountRow, [after: string, limit: number]>(
    "select * from account where id < $1 order by id desc limit $2",
  ),
};
const LOW = statement<AccountRow>(LOW_ACCOUNTS);
const IS_ANY = statement<{ found: 1 }>("select 1 as found from account limit 1");
/** While this lock is held, nobody adds an account. */
const HOLD_ALL = statement("lock table account in share row exclusive mode");
const INSERT = statement<never, [id: string, name: string, mode: string, createdAt: number]>(
  `insert into account (id, name, mode, status, balance_micros, held_micros, created_at)
   values ($1, $2, $3, 'active', 0, 0, $4) on conflict (name) do nothing`,
);
const UPDATE = statement<never, [id: string, ...Parameter[]]>(
  `update account set status = $2, mode = $3, credit_limit_micros = $4, low_balance_micros = $5, price_multiplier = $6,
     retain_outputs_sec = $7, retain_inputs_sec = $8, retain_callbacks_sec = $9, retain_tasks_sec = $10
   where id = $1`,
);
/** Once the balance suffices again, the next low balance is reported again. */
const CLEAR_TOLD = statement<never, [id: string]>(
  `update account set low_balance_told = 0 where id = $1 and low_balance_told = 1
     and ${AVAILABLE} >= coalesce(low_balance_micros, -9007199254740991)`,
);
const CREDITED = statement<RawRow<typeof creditKey>, [account: string, key: string]>(
  "select * from credit_key where account_id = $1 and key = $2",
);
const NOTE_CREDITED = statement<never, [account: string, key: string, amount: number, reason: string]>(
  "insert into credit_key (account_id, key, amount_micros, reason) values ($1, $2, $3, $4)",
);

export async function findAccount(session: Session, id: string): Promise<Account | undefined> {
  const row = await BY_ID.get(session, id);
  return row && toAccount(row);
}

export async function findAccountOrName(session: Session, idOrName: string): Promise<Account | undefined> {
  const row = await BY_ID_OR_NAME.get(session, idOrName);
  return row && toAccount(row);
}

export async function accountPage(
  session: Session,
  { order = "asc", after = beginningOf(order), limit }: ListPage,
): Promise<Account[]> {
  return (await PAGE[order].all(session, after, limit)).map(toAccount);
}

export async function lowAccounts(session: Session): Promise<Account[]> {
  return (await LOW.all(session)).map(toAccount);
}

/** Whether there is no account. If so, nobody else can add one before the transaction ends. */
export async function isWithoutAccounts(session: Session): Promise<boolean> {
  // Usually there is an account, and then nobody has to wait.
  if ((await IS_ANY.get(session)) !== undefined) return false;
  await HOLD_ALL.run(session);
  return (await IS_ANY.get(session)) === undefined;
}

/** Creates, changes and credits accounts. Changes and credits hold the account's row (`writeFor`). */
export function createAccounts({ ledger }: { readonly ledger: Ledger }) {
  return {
    async create(session: Session, { id, name, mode, credit, createdAt }: NewAccount, act?: Act) {
      if ((await INSERT.run(session, id, name, mode, createdAt)) === 0) return "name_taken" as const;
      if (credit > 0)
        await ledger.post(session, id, [creditEntry(credit, "first credit", actorOf(act))], createdAt);
      await writeTrail(session, act, accountMade(await findAccount(session, id), credit));
      return "created" as const;
    },
    async update(
      session: Session,
      id: AccountId,
      change: AccountChange,
      act?: Act,
    ): Promise<Account | "overdrawn" | "not_found"> {
      const before = await findAccount(session, id);
      if (before === undefined) return "not_found";
      const given = Object.entries(change).filter(([, value]) => value !== undefined);
      if (given.length === 0) return before;
      const { mode = before.mode, creditLimit = before.creditLimit } = change;
      if ((availableOf({ ...before, mode, creditLimit }) ?? 0) < 0) return "overdrawn";
      await UPDATE.run(session, id, ...columnsOf({ ...before, ...Object.fromEntries(given) }));
      await CLEAR_TOLD.run(session, id);
      const after = (await findAccount(session, id)) ?? before;
      await writeTrail(session, act, accountChanged(before, after));
      return after;
    },
    credit: prepareCredit(ledger),
  };
}

function columnsOf(account: Account): (string | number | null)[] {
  const { status, mode, creditLimit, lowBalance, priceMultiplier } = account;
  const { retainOutputsSec, retainInputsSec, retainCallbacksSec, retainTasksSec } = account;
  return [
    ...[status, mode, creditLimit, lowBalance ?? null, priceMultiplier],
    ...[retainOutputsSec, retainInputsSec, retainCallbacksSec, retainTasksSec].map((sec) => sec ?? null),
  ];
}

/** Appends a credit to the ledger, once for each idempotency key. */
function prepareCredit(ledger: Ledger) {
  return async function credit(
    session: Session,
    [id, amount, reason, act, key]: Parameters<AccountStore["credit"]>,
  ): Promise<Credit> {
    const before = await findAccount(session, id);
    if (before === undefined) return { kind: "not_found" };
    const used = key === undefined ? undefined : await CREDITED.get(session, id, key);
    if (used !== undefined) {
      const isSame = used.amount_micros === amount && used.reason === reason;
      return isSame ? { kind: "replayed", account: before } : { kind: "conflict" };
    }
    if (amount === 0) return { kind: "credited", account: before };
    const available = availableOf(before);
    if (available !== undefined && amount < 0 && available + amount < 0)
      return { kind: "too_low", account: before };
    if (!Number.isSafeInteger(before.balance + amount)) return { kind: "uncountable", account: before };
    await ledger.post(session, id, [creditEntry(amount, reason, ledgerActor(act.actor))], act.at);
    if (key !== undefined) await NOTE_CREDITED.run(session, id, key, amount, reason);
    const after = (await findAccount(session, id)) ?? before;
    await writeTrail(session, act, accountCredited(before, after, amount, reason));
    return { kind: "credited", account: after };
  };
}

const actorOf = (act: Act | undefined) => (act === undefined ? "operator" : ledgerActor(act.actor));
