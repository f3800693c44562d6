import type { Account, ApiKey, KeyChange, KeyGrant, ManagementToken, Rotation } from "../access/account.ts";
import type { AccountMode, AccountTermsChange } from "../access/account-terms.ts";
import type { AccountId, KeyId, TaskId, TokenId } from "../ids.ts";
import type { LedgerEntry } from "../money/ledger.ts";
import type { Micros } from "../money/money.ts";

export interface NewAccount {
  readonly id: AccountId;
  readonly name: string;
  readonly mode: AccountMode;
  /** First credit, if above zero, written to the ledger with the account. */
  readonly credit: Micros;
  readonly createdAt: number;
  /** Who makes it; `operator` unless given. */
  readonly actor?: string | undefined;
}

/** A change of an account. What is absent stays as it is; null removes. */
export interface AccountChange extends AccountTermsChange {
  readonly status?: Account["status"] | undefined;
}

/** What became of a credit or an adjustment; `account` is as it stands then. */
export type Credit =
  | { readonly kind: "credited"; readonly account: Account }
  /** It would leave a prepaid account with less than is held. */
  | { readonly kind: "too_low"; readonly account: Account }
  /** The balance would be more than can be counted exactly. */
  | { readonly kind: "uncountable"; readonly account: Account }
  | { readonly kind: "not_found" };

/** A ledger row with its place and time, oldest first in listings. */
export interface StoredLedgerEntry extends LedgerEntry {
  readonly accountId: AccountId;
  readonly at: number;
}

/** A ledger row in a page, with what the account had after it. */
export interface LedgerRow extends StoredLedgerEntry {
  /** Names the row among all accounts' rows; later ones have higher numbers. */
  readonly number: number;
  readonly balance: Micros;
}

/** What a key spent and has reserved of its quota. */
export interface QuotaUse {
  readonly used: Micros;
  readonly reserved: Micros;
}

export type Refund =
  | { readonly kind: "refunded"; readonly amount: Micros; readonly account: Account }
  /** More than the task was charged. */
  | { readonly kind: "too_much"; readonly charged: Micros }
  /** Live, failed, cancelled, or free. */
  | { readonly kind: "not_charged" }
  | { readonly kind: "already_refunded" }
  | { readonly kind: "not_found" };

/**
 * Accounts, API keys and management tokens. Every method is one transaction. Names are unique within their kind, accounts by
 * name, keys by account and name among those not revoked.
 */
export interface AccountStore {
  createAccount(account: NewAccount): Promise<"created" | "name_taken">;
  accounts(): Promise<Account[]>;
  /** By id or by name. */
  account(idOrName: string): Promise<Account | undefined>;
  /**
   * Changes what is given and nothing else; grants show it at once.
   *
   * @returns the account as it is then; `overdrawn` when, prepaid and with that credit limit, it would hold more than it has
   */
  updateAccount(id: AccountId, change: AccountChange): Promise<Account | "overdrawn" | "not_found">;
  /**
   * Appends a credit (or, below zero, an adjustment) and moves the balance.
   *
   * @param actor who does it: a token's id, or `operator`
   */
  credit(id: AccountId, amount: Micros, reason: string, actor: string, now: number): Promise<Credit>;
  /**
   * Gives back what a completed task was charged, once for each task. What was counted as used stays counted: in the usage, and
   * in the quota of the task's key.
   *
   * @param amount above zero; all of it unless given
   */
  refund(
    task: TaskId,
    amount: Micros | undefined,
    reason: string,
    actor: string,
    now: number,
  ): Promise<Refund>;
  ledger(id: AccountId): Promise<StoredLedgerEntry[]>;
  /** Newest first: at most `limit` rows, those before the row with number `before`. */
  ledgerPage(
    id: AccountId,
    page: { readonly limit: number; readonly before?: number | undefined },
  ): Promise<LedgerRow[]>;

  /** @param callbackSecret what its callbacks are signed with (`isSigningSecret`), if `key.signsCallbacks` */
  createKey(key: ApiKey, callbackSecret?: string): Promise<"created" | "name_taken" | "no_account">;
  keys(account?: AccountId): Promise<ApiKey[]>;
  /** By id, or by name among the keys that are not revoked; undefined when several accounts have a key of that name. */
  key(idOrName: string): Promise<ApiKey | undefined>;
  revokeKey(id: KeyId, now: number): Promise<"revoked" | "already_revoked" | "not_found">;
  /**
   * How much of a quota is gone in a period (`quotaPeriod`), by when tasks were accepted. Where counting for the key began within
   * it, what it was charged from the period's first day on was used, and what its live tasks hold is reserved.
   */
  keyQuota(id: KeyId, period: number): Promise<QuotaUse>;
  /** Changes what is given and nothing else. @returns the key as it is then; a revoked one stays as it was */
  changeKey(id: KeyId, change: KeyChange): Promise<ApiKey | "revoked" | "not_found">;
  /**
   * Gives a key another secret and keeps all else. The secret it had becomes the previous one, taken until
   * `previousExpiresAt`; what was the previous one before is no longer taken.
   *
   * @returns the key as it is then; a revoked one stays as it was
   */
  rotateKey(id: KeyId, rotation: Rotation): Promise<ApiKey | "revoked" | "not_found">;
  /**
   * What is kept of the secrets that the key's callbacks are signed with, as `signatureHeaders` takes it; undefined where they
   * are not signed, or there is no such key. Never older than the call.
   */
  callbackSecret(id: KeyId): Promise<string | undefined>;
  /**
   * The grant of the key with this hash, be it the key's own or its previous one. Costs no query when warm, and is never more than a second behind a change made by
   * another process; a change made by this one shows at once.
   */
  grantByHash(hash: string, now: number): KeyGrant | undefined;

  createToken(token: ManagementToken): Promise<"created" | "name_taken">;
  tokens(): Promise<ManagementToken[]>;
  token(idOrName: string): Promise<ManagementToken | undefined>;
  /** The token with this hash, with the promises of `grantByHash`. */
  tokenByHash(hash: string, now: number): ManagementToken | undefined;
  revokeToken(id: TokenId, now: number): Promise<"revoked" | "already_revoked" | "not_found">;
}
