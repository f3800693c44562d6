import type { LaneId } from "../domain/ids.ts";
import { isJsonObject } from "../domain/json.ts";
import type { ProviderAdapter, Rates } from "../domain/ports/provider.ts";
import type { OnUnknown } from "../domain/task/routing.ts";
import type { Secret } from "../toolkit/settings/secret.ts";

/** An account at a provider: what tells it from the provider's other ones. What is absent is as the provider usually has it. */
export interface ProviderAccount {
  readonly name: string;
  readonly lane: LaneId;
  /** By the names of the provider's own credentials, such as `key`. All that the provider has. */
  readonly secrets: Readonly<Record<string, Secret>>;
  /** With a path, the address of the API; without one, another origin for it. */
  readonly baseUrl?: string | undefined;
  /** One of those that the provider has. */
  readonly region?: string | undefined;
  readonly concurrency?: number | undefined;
  readonly submitsPerMinute?: number | undefined;
  readonly pollsPerSecond?: number | undefined;
  /** `fail` unless given. */
  readonly onUnknown?: OnUnknown | undefined;
  /** Requests go through it. */
  readonly proxy?: string | undefined;
}

/** How often an account may be asked, by its own settings, else as given. */
export function ratesOf({ submitsPerMinute, pollsPerSecond }: ProviderAccount, usual: Rates = {}): Rates {
  return {
    submissionsPerMinute: submitsPerMinute ?? usual.submissionsPerMinute,
    pollsPerMinute: pollsPerSecond === undefined ? usual.pollsPerMinute : pollsPerSecond * 60,
  };
}

/** The address of an API that an account is reached at: its own, which may be another origin only, or the usual one. */
export function baseOf({ baseUrl }: Pick<ProviderAccount, "baseUrl">, usual: string): string {
  if (baseUrl === undefined) return usual;
  const own = new URL(baseUrl);
  const path = own.pathname === "/" ? new URL(usual).pathname : own.pathname;
  return `${own.origin}${path.replace(/\/+$/, "")}`;
}

/** An adapter whose attempts go on at the base that they began with, also once the settings name another one. */
export function keepingBase(base: string, create: (base: string) => ProviderAdapter): ProviderAdapter {
  const earlier = new Map<string, ProviderAdapter>();
  const present = create(base);
  const adapter: ProviderAdapter = {
    ...present,
    ...(present.stop && {
      async stop() {
        for (const each of [present, ...earlier.values()]) await each.stop?.();
      },
    }),
    terms: () => ({ base }),
    withTerms(terms) {
      const kept = isJsonObject(terms) && typeof terms.base === "string" ? terms.base : base;
      return kept === base ? adapter : earlier.getOrInsertComputed(kept, create);
    },
  };
  return adapter;
}
