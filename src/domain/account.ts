import type { AccountId, KeyId, TokenId } from "./ids.ts";
import type { Micros } from "./money.ts";

/** `unlimited` accounts are metered but never refused; `prepaid` ones spend what was credited. */
export type AccountMode = "unlimited" | "prepaid";

export interface Account {
  readonly id: AccountId;
  readonly name: string;
  readonly mode: AccountMode;
  readonly status: "active" | "suspended";
  /** Sum of the account's ledger; below zero only for unlimited accounts. */
  readonly balance: Micros;
  /** Sum of the holds of its live tasks. */
  readonly held: Micros;
  readonly createdAt: number;
}

/** What is kept of a credential: never the credential itself. */
export interface StoredSecret {
  /** Lower-case hexadecimal SHA-256 of the whole credential. */
  readonly hash: string;
  /** Its first 11 and last 4 characters, for people to recognise it. */
  readonly display: string;
}

export interface ApiKey extends StoredSecret {
  readonly id: KeyId;
  readonly accountId: AccountId;
  readonly name: string;
  readonly createdAt: number;
  readonly expiresAt?: number | undefined;
  readonly revokedAt?: number | undefined;
}

export interface ManagementToken extends StoredSecret {
  readonly id: TokenId;
  readonly name: string;
  readonly createdAt: number;
  readonly revokedAt?: number | undefined;
}

/** Who a request acts for, once its key was accepted. */
export interface Principal {
  readonly accountId: AccountId;
  readonly keyId: KeyId;
  readonly keyName: string;
}

/** What the store knows of a presented key; `service/authenticate` turns it into a verdict. */
export interface KeyGrant {
  readonly keyId: KeyId;
  readonly keyName: string;
  readonly accountId: AccountId;
  readonly accountStatus: Account["status"];
  readonly expiresAt?: number | undefined;
  readonly revokedAt?: number | undefined;
}
