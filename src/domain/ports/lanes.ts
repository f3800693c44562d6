import type { LaneId, ProviderId } from "../ids.ts";

/** The accounts at providers that are switched on. */
export interface Lanes {
  /** Whether the provider has an account that is switched on. */
  has(provider: ProviderId): boolean;
  /** The account with the most room for one more task of this provider; undefined for a provider that is switched off. */
  choose(provider: ProviderId): Promise<LaneId | undefined>;
}
