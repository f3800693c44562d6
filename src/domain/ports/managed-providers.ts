import type { LaneId } from "../ids.ts";
import type { JsonObject } from "../json.ts";
import type { AccountTrouble } from "../model/availability.ts";
import type { Standing } from "../model/standing.ts";
import type { Tested } from "./provider.ts";

/** An account of a provider that is switched on, without its secrets. */
export interface ManagedAccount {
  readonly name: string;
  readonly lane: LaneId;
  readonly keyFrom: KeyPlace;
  readonly region?: string | undefined;
  readonly baseUrl?: string | undefined;
  readonly concurrency?: number | undefined;
}

/**
 * Where the key of an account is. `settings` in a variable or a file that the settings name · `kept` sealed in the data folder ·
 * `none` nowhere, because it needs none.
 */
export const KEY_PLACES = ["settings", "kept", "none"] as const;
export type KeyPlace = (typeof KEY_PLACES)[number];

/** The form that a provider is described by. */
export interface ManagedForm {
  /** SHA-256 of its text. */
  readonly hash: string;
  /** Its file in the data folder; absent for one that comes along. */
  readonly file?: string | undefined;
  readonly text: string;
}

/** A provider as its operator sees it. */
export interface ManagedProvider {
  readonly id: string;
  readonly title: string;
  /** Absent for a provider that is code. */
  readonly form?: ManagedForm | undefined;
  /** What is missing to switch it on; empty for one that is on. */
  readonly needs: readonly string[];
  readonly accounts: readonly ManagedAccount[];
  /** Ids of the models that have a route to it. */
  readonly models: readonly string[];
}

/** A model that a provider can make. */
export interface ManagedRoute {
  readonly model: string;
  readonly upstreamModel: string;
  /** What the upstream said when it refused every account that is switched on, and since when. */
  readonly refused?: Pick<Standing, "detail" | "since"> | undefined;
  /** The accounts that get none of its tasks at present. */
  readonly troubles: readonly AccountTrouble[];
}

export interface ProviderInFull extends ManagedProvider {
  /** What its form says of addresses, credentials, limits, calls and refusals; no value of a secret is in it. */
  readonly facts: JsonObject;
  readonly routes: readonly ManagedRoute[];
  /** Names of the secrets of each kind of account, the usual one first. */
  readonly kinds: readonly (readonly string[])[];
  /** What is wrong with its file, its settings and the kept keys of its accounts, a line each. */
  readonly problems: readonly string[];
}

export interface AccountTest {
  readonly provider: string;
  readonly account: string;
  readonly lane: string;
  readonly tookMs: number;
  readonly tested: Tested;
  /** What the account lacks for routes to it, a line each; absent where it cannot be asked. */
  readonly lacks?: readonly string[] | undefined;
}

/** The providers of a server or a data folder. */
export interface ManagedProviders {
  /** Every one, switched on or not, and what is wrong with files, settings and kept keys. */
  list(): Promise<{ readonly providers: readonly ManagedProvider[]; readonly problems: readonly string[] }>;
  /** @throws AppError `not_found` for what is no provider */
  read(id: string): Promise<ProviderInFull>;
  /**
   * Asks the upstream of each account for what costs nothing, to prove its key. Takes 10 s at most.
   *
   * @param account only this one
   * @throws AppError `not_found` for what is no provider or no account that is switched on
   */
  test(id: string, account?: string): Promise<readonly AccountTest[]>;
}
