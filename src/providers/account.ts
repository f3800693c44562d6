import type { LaneId } from "../domain/ids.ts";
import { isJsonObject } from "../domain/json.ts";
import type { ProviderAdapter, Rates } from "../domain/ports/provider.ts";
import type { OnUnknown } from "../domain/task/routing.ts";
import type { Secret } from "../toolkit/settings/secret.ts";

/**
 * An account at a provider: what distinguishes it from the provider's other accounts. For absent members, the provider's usual
 * values apply.
 */
export interface ProviderAccount {
  readonly name: string;
  readonly lane: LaneId;
  /** All of the provider's credentials, by the provider's names for them, such as `key`. */
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

/** How often an account may be called: by its own settings, else as given. */
export function ratesOf({ submitsPerMinute, pollsPerSecond }: ProviderAccount, usual: Rates = {}): Rates {
  return {
    submissionsPerMinute: submitsPerMinute ?? usual.submissionsPerMinute,
    pollsPerMinute: pollsPerSecond === undefined ? usual.pollsPerMinute : pollsPerSecond * 60,
  };
}

/** The address at which an account reaches an API: its own, which may be only another origin, or the usual one. */
export function baseOf({ baseUrl }: Pick<ProviderAccount, "baseUrl">, usual: string): string {
  if (baseUrl === undefined) return usual;
  const own = new URL(baseUrl);
  const path = own.pathname === "/" ? new URL(usual).pathname : own.pathname;
  return `${own.origin}${path.replace(/\/+$/, "")}`;
}

/** An adapter whose attempts continue at the base with which they began, even after the settings name another one. */
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
