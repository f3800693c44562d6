import type { LaneId, ProviderId } from "./ids.ts";

/** The account that a key in a provider's customary environment variable creates. */
export const DEFAULT_ACCOUNT = "default";

/** Whether an account of a provider may be called this. */
export function isAccountName(name: string): boolean {
  return /^[a-z0-9][a-z0-9_-]{0,31}$/.test(name);
}

/** The lane of an account at a provider. */
export function laneOf(provider: ProviderId, account: string): LaneId {
  return account === DEFAULT_ACCOUNT ? provider : (`${provider}/${account}` as LaneId);
}

/** The name of a lane's account. */
export function accountNameOf(lane: LaneId): string {
  const slash = lane.indexOf("/");
  return slash === -1 ? DEFAULT_ACCOUNT : lane.slice(slash + 1);
}

/** The provider of a lane's account. No provider's id contains a slash. */
export function providerOf(lane: LaneId): ProviderId {
  const slash = lane.indexOf("/");
  return (slash === -1 ? lane : lane.slice(0, slash)) as ProviderId;
}
