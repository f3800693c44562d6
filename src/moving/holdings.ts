import type { GivenKeyTerms } from "../domain/access/key-policy.ts";
import type { ModelId, ProviderId } from "../domain/ids.ts";
import type { Micros } from "../domain/money/money.ts";

/*
 * What another gateway has, in this service's terms. Each reader of a gateway makes one of these, and knows nothing about what
 * exists here.
 */

/** Who keys and money belong to there: a team, a user. */
export interface HeldAccount {
  /** What tells it from every other one there, for good. */
  readonly origin: string;
  readonly name: string;
  /** What is left to spend; absent: it is unlimited. */
  readonly credit?: Micros | undefined;
  /** Millionths. */
  readonly priceMultiplier?: number | undefined;
  readonly isSuspended?: boolean | undefined;
  readonly notes: readonly string[];
}

export interface HeldKey {
  readonly origin: string;
  readonly name: string;
  /** The origin of its account; absent: it belongs to nobody there. */
  readonly account?: string | undefined;
  /** Lower-case hexadecimal SHA-256 of the key; absent: it cannot go on, and gets a new secret. */
  readonly hash?: string | undefined;
  /** So that people recognise it. */
  readonly display: string;
  readonly terms: GivenKeyTerms;
  readonly notes: readonly string[];
}

/** A key of an account at a provider. */
export interface HeldProviderKey {
  readonly provider: ProviderId;
  /** What its account may be called here. */
  readonly name: string;
  /** The parts of the key, in the order of the provider's secrets. */
  readonly secrets: readonly string[];
  /** Where it stands there. */
  readonly from: string;
  /** The address that it is used at there, where one is given. */
  readonly baseUrl?: string | undefined;
}

/** What an output of a model costs there, whatever it looks like. */
export interface HeldPrice {
  readonly model: ModelId;
  readonly amount: Micros;
  readonly from: string;
}

/** Something that cannot come, and why. */
export interface LeftBehind {
  readonly kind: ItemKind;
  readonly from: string;
  readonly why: string;
  /** Of a key: what its origin would be. */
  readonly keyOrigin?: string | undefined;
  /** The column that cannot be read, where that is why. */
  readonly unreadable?: string | undefined;
}

export interface Holdings {
  readonly accounts: readonly HeldAccount[];
  readonly keys: readonly HeldKey[];
  readonly providerKeys: readonly HeldProviderKey[];
  readonly prices: readonly HeldPrice[];
  /** Names of models there that stand for models here. */
  readonly aliases: Readonly<Record<string, ModelId>>;
  readonly left: readonly LeftBehind[];
}

export type ItemKind = "account" | "key" | "provider_key" | "price" | "alias" | "model" | "setting";

export const NOTHING: Holdings = {
  ...{ accounts: [], keys: [], providerKeys: [], prices: [], aliases: {}, left: [] },
};

/** Something of another gateway cannot be read, or is not what it should be. The message has no secret. */
export class UnreadableSource extends Error {
  override readonly name = "UnreadableSource";
}
