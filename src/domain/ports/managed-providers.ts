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
 * Where the key of an account is stored. `settings` in a variable or a file that the settings name · `kept` sealed in the data
 * folder · `none` the account needs no key.
 */
export const KEY_PLACES = ["settings", "kept", "none"] as const;
export type KeyPlace = (typeof KEY_PLACES)[number];

/** The form that describes a provider. */
export interface ManagedForm {
  /** SHA-256 of its text. */
  readonly hash: string;
  /** Its file in the data folder; absent for a provider that is part of the program. */
  readonly file?: string | undefined;
  readonly text: string;
}

/** A provider as its operator sees it. */
export interface ManagedProvider {
  readonly id: string;
  readonly title: string;
  /** Absent for a provider that is written in code. */
  readonly form?: ManagedForm | undefined;
  /** What an operator must set to switch it on; empty for a provider that is on. */
  readonly needs: readonly string[];
  readonly accounts: readonly ManagedAccount[];
  /** Ids of the models that have a route to it. */
  readonly models: readonly string[];
}

/** A model that a provider can make. */
export interface ManagedRoute {
  readonly model: string;
  readonly upstreamModel: string;
  /** The upstream's message when it refused every account that is switched on, and since when. */
  readonly refused?: Pick<Standing, "detail" | "since"> | undefined;
  /** The accounts that currently get no tasks. */
  readonly troubles: readonly AccountTrouble[];
}

export interface ProviderInFull extends ManagedProvider {
  /** What its form says about addresses, credentials, limits, calls and refusals, without the value of any secret. */
  readonly facts: JsonObject;
  readonly routes: readonly ManagedRoute[];
  /** Names of the secrets of each kind of account, with the usual kind first. */
  readonly kinds: readonly (readonly string[])[];
  /** Problems with its file, its settings and the stored keys of its accounts, one line each. */
  readonly problems: readonly string[];
}

export interface AccountTest {
  readonly provider: string;
  readonly account: string;
  readonly lane: string;
  readonly tookMs: number;
  readonly tested: Tested;
  /** What the account lacks for its routes, one line each; absent if the account cannot be asked. */
  readonly lacks?: readonly string[] | undefined;
}

/** The providers of a server or a data folder. */
export interface ManagedProviders {
  /** Every provider, switched on or not, and the problems with files, settings and stored keys. */
  list(): Promise<{ readonly providers: readonly ManagedProvider[]; readonly problems: readonly string[] }>;
  /** @throws AppError `not_found` if there is no such provider */
  read(id: string): Promise<ProviderInFull>;
  /**
   * Makes a free call to the upstream of each account, to prove its key. Takes 10 s at most.
   *
   * @param account tests only this one
   * @throws AppError `not_found` if the provider does not exist or the account is not switched on
   */
  test(id: string, account?: string): Promise<readonly AccountTest[]>;
}
