import type { SigningChange } from "../callback/signature.ts";
import type { AccountId, KeyId, TokenId } from "../ids.ts";
import { type Micros, toMicros } from "../money/money.ts";
import type { AccountTerms } from "./account-terms.ts";
import type { KeyPolicy, PolicyChange } from "./key-policy.ts";
import type { Scope } from "./token-terms.ts";

export interface Account extends AccountTerms {
  readonly id: AccountId;
  readonly name: string;
  readonly status: "active" | "suspended";
  /** Sum of the account's ledger; below zero only for unlimited accounts. */
  readonly balance: Micros;
  /** Sum of the holds of its live tasks. */
  readonly held: Micros;
  readonly createdAt: number;
}

/** What new tasks of an account may cost; undefined where the amount is not limited. */
export function availableOf({ mode, balance, held, creditLimit }: Account): Micros | undefined {
  return mode === "unlimited" ? undefined : toMicros(balance - held + creditLimit);
}

/** What is stored of a credential. The credential itself is not. */
export interface StoredSecret {
  /** Lower-case hexadecimal SHA-256 of the whole credential. */
  readonly hash: string;
  /** Its first 11 and last 4 characters, so that people recognise it. */
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
  /** Whether its callbacks are signed. Only `AccountStore.callbackSecret` returns the secret. */
  readonly signsCallbacks: boolean;
  /** The secret before the last rotation, accepted until `expiresAt`. */
  readonly previous?: { readonly display: string; readonly expiresAt: number } | undefined;
}

export interface ManagementToken extends StoredSecret {
  readonly id: TokenId;
  readonly name: string;
  /** What it may do; at least one. */
  readonly scopes: readonly Scope[];
  readonly createdAt: number;
  readonly expiresAt?: number | undefined;
  /** When it was last taken, in epoch milliseconds, to within a minute. */
  readonly lastUsedAt?: number | undefined;
  readonly revokedAt?: number | undefined;
}

/** Whether a key or a token is accepted at `now`, and if not, why. A revoked one that has also expired is revoked. */
export function keyStatus(key: Pick<ApiKey, "revokedAt" | "expiresAt">, now: number) {
  if (key.revokedAt !== undefined) return "revoked";
  return key.expiresAt !== undefined && key.expiresAt <= now ? "expired" : "active";
}

/** A change of a key. What is absent stays as it is; null removes. */
export interface KeyChange {
  readonly policy: PolicyChange;
  readonly expiresAt?: number | null | undefined;
  /** Null: callbacks are no longer signed. */
  readonly signing?: SigningChange | null | undefined;
}

/** The secret that replaces a key's own. */
export interface Rotation extends StoredSecret {
  /** Until when the replaced secret is still accepted; absent: not at all. */
  readonly previousExpiresAt?: number | undefined;
}

/** What the store knows about a presented key; `service/authenticate` turns it into a verdict. */
export interface KeyGrant {
  readonly keyId: KeyId;
  readonly keyName: string;
  readonly accountId: AccountId;
  readonly accountStatus: Account["status"];
  readonly policy: KeyPolicy;
  /** The account's, in millionths. */
  readonly priceMultiplier: number;
  /** How long the account keeps the files of results, where not as the server has it. */
  readonly retainOutputsSec?: number | undefined;
  /** When the key expires, or the presented secret if that is sooner. */
  readonly expiresAt?: number | undefined;
  readonly revokedAt?: number | undefined;
}

/** Who a request acts for, after its key was accepted. */
export interface Principal extends Pick<KeyGrant, "accountId" | "keyId" | "keyName" | "policy"> {
  /** Millionths: the key's own, or its account's. */
  readonly priceMultiplier: number;
  /** How long the files of results are kept, by the key or else by its account; absent: as the server has it. */
  readonly retainSec?: number | undefined;
}
