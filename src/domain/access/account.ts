import type { SigningChange } from "../callback/signature.ts";
import type { AccountId, KeyId, TokenId } from "../ids.ts";
import { type Micros, toMicros } from "../money/money.ts";
import type { KeyPolicy, PolicyChange } from "./key-policy.ts";

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
  /** How far below zero a prepaid account may go. */
  readonly creditLimit: Micros;
  /** Millionths its prices are charged times. */
  readonly priceMultiplier: number;
  /** Less than this available is told to the operator, once for each time it comes about. */
  readonly lowBalance?: Micros | undefined;
  readonly createdAt: number;
}

/** What new tasks of an account may cost; undefined where any amount. */
export function availableOf({ mode, balance, held, creditLimit }: Account): Micros | undefined {
  return mode === "unlimited" ? undefined : toMicros(balance - held + creditLimit);
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
  readonly policy: KeyPolicy;
  readonly createdAt: number;
  readonly expiresAt?: number | undefined;
  readonly revokedAt?: number | undefined;
  /** Whether there is a secret that its callbacks are signed with; only `AccountStore.callbackSecret` tells it. */
  readonly signsCallbacks: boolean;
  /** The secret before the last rotation, taken until `expiresAt`. */
  readonly previous?: { readonly display: string; readonly expiresAt: number } | undefined;
}

export interface ManagementToken extends StoredSecret {
  readonly id: TokenId;
  readonly name: string;
  readonly createdAt: number;
  readonly revokedAt?: number | undefined;
}

/** Whether a key is taken at `now`, and if not, why. A revoked key stays revoked whatever else is true of it. */
export function keyStatus(key: Pick<ApiKey, "revokedAt" | "expiresAt">, now: number) {
  if (key.revokedAt !== undefined) return "revoked";
  return key.expiresAt !== undefined && key.expiresAt <= now ? "expired" : "active";
}

/** What is to become of a key: what is absent stays as it is, null lifts. */
export interface KeyChange {
  readonly policy: PolicyChange;
  readonly expiresAt?: number | null | undefined;
  /** Null: callbacks are no longer signed. */
  readonly signing?: SigningChange | null | undefined;
}

/** The secret a key is given in place of its own. */
export interface Rotation extends StoredSecret {
  /** Until when the secret it replaces is still taken; absent: no longer. */
  readonly previousExpiresAt?: number | undefined;
}

/** Who a request acts for, once its key was accepted. */
export interface Principal {
  readonly accountId: AccountId;
  readonly keyId: KeyId;
  readonly keyName: string;
  readonly policy: KeyPolicy;
  /** Millionths its prices are charged times. */
  readonly priceMultiplier: number;
}

/** Who manages the service, once a management token was accepted. */
export interface Operator {
  readonly tokenId: TokenId;
  readonly tokenName: string;
}

/** What the store knows of a presented key; `service/authenticate` turns it into a verdict. */
export interface KeyGrant {
  readonly keyId: KeyId;
  readonly keyName: string;
  readonly accountId: AccountId;
  readonly accountStatus: Account["status"];
  readonly policy: KeyPolicy;
  /** Millionths, of the account. */
  readonly priceMultiplier: number;
  /** Of the key, or of the secret presented where that one ends sooner. */
  readonly expiresAt?: number | undefined;
  readonly revokedAt?: number | undefined;
}
