import type {
  Account,
  AccountMode,
  ApiKey,
  KeyChange,
  KeyGrant,
  ManagementToken,
  Rotation,
} from "../account.ts";
import type { AccountId, KeyId, TokenId } from "../ids.ts";
import type { LedgerEntry } from "../ledger.ts";
import type { Micros } from "../money.ts";

export interface NewAccount {
  readonly id: AccountId;
  readonly name: string;
  readonly mode: AccountMode;
  /** First credit, if above zero, written to the ledger with the account. */
  readonly credit: Micros;
  readonly createdAt: number;
}

/** A ledger row with its place and time, oldest first in listings. */
export interface StoredLedgerEntry extends LedgerEntry {
  readonly accountId: AccountId;
  readonly at: number;
}

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
   * Appends a credit (or, below zero, an adjustment) and moves the balance.
   *
   * @returns the new state, or undefined for an unknown id
   * @throws AppError `invalid_request` when a prepaid account would be left with less than is held
   */
  credit(id: AccountId, amount: Micros, reason: string, now: number): Promise<Account | undefined>;
  ledger(id: AccountId): Promise<StoredLedgerEntry[]>;

  createKey(key: ApiKey): Promise<"created" | "name_taken" | "no_account">;
  keys(account?: AccountId): Promise<ApiKey[]>;
  /** By id, or by name among the keys that are not revoked; undefined when several accounts have a key of that name. */
  key(idOrName: string): Promise<ApiKey | undefined>;
  revokeKey(id: KeyId, now: number): Promise<"revoked" | "already_revoked" | "not_found">;
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
