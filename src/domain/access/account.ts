import type { SigningChange } from "../callback/signature.ts";
import type { AccountId, KeyId, TokenId } from "../ids.ts";
import { type Micros, toMicros } from "../money/money.ts";
import type { AccountMode, AccountTerms } from "./account-terms.ts";
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

/** What new tasks of an account may cost; undefined if the amount is not limited. */
export function availableOf({ mode, balance, held, creditLimit }: Account): Micros | undefined {
  return mode === "unlimited" ? undefined : toMicros(balance - held + creditLimit);
}

/** How much an unlimited account may owe beyond its credit limit: 8e9 USD. Balances are counted exactly up to 2^53 micro-units. */
export const MOST_OWED = 8_000_000_000_000_000;

/** What new tasks of an account may hold. @param available the balance less what is held, plus the credit limit */
export function holdableOf({
  mode,
  available,
}: {
  readonly mode: AccountMode;
  readonly available: number;
}): Micros {
  const holdable = mode === "prepaid" ? available : available + MOST_OWED;
  return toMicros(Math.max(Number.MIN_SAFE_INTEGER, Math.min(holdable, Number.MAX_SAFE_INTEGER)));
}

/** The part of a credential that is stored. The credential itself is never stored. */
export interface StoredSecret {
  /** Lower-case hexadecimal SHA-256 of the whole credential. */
  readonly hash: string;
  /** Its first 11 and last 4 characters, by which people recognise it. */
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
  /** What the token may do; at least one scope. */
  readonly scopes: readonly Scope[];
  readonly createdAt: number;
  readonly expiresAt?: number | undefined;
  /** When the token was last accepted, in epoch milliseconds, accurate to a minute. */
  readonly lastUsedAt?: number | undefined;
  readonly revokedAt?: number | undefined;
}

/** Whether a key or a token is accepted at `now`, and if not, why. One that is both revoked and expired counts as revoked. */
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
  /** Until when the replaced secret is still accepted. Absent: it is refused at once. */
  readonly previousExpiresAt?: number | undefined;
}

/** What the store knows about a presented key; `service/authenticate` turns it into a verdict. */
export interface KeyGrant {
  readonly keyId: KeyId;
  readonly keyName: string;
  readonly accountId: AccountId;
  readonly accountStatus: Account["status"];
  readonly policy: KeyPolicy;
  /** The price multiplier of the account, in millionths. */
  readonly priceMultiplier: number;
  /** How long the account keeps result files, if this differs from the server's setting. */
  readonly retainOutputsSec?: number | undefined;
  /** When the key expires, or the presented secret if that is sooner. */
  readonly expiresAt?: number | undefined;
  readonly revokedAt?: number | undefined;
}

/** Who a request acts for, after its key was accepted. */
export interface Principal extends Pick<KeyGrant, "accountId" | "keyId" | "keyName" | "policy"> {
  /** In millionths: the key's own multiplier, or else its account's. */
  readonly priceMultiplier: number;
  /** How long result files are kept, as set for the key or else for its account. Absent: the server's setting applies. */
  readonly retainSec?: number | undefined;
}
