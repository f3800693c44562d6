import type { LaneId, ProviderId } from "./ids.ts";

/** The account that a key in a provider's customary variable makes. */
export const DEFAULT_ACCOUNT = "default";

/** Whether an account of a provider may be called this. */
export function isAccountName(name: string): boolean {
  return /^[a-z0-9][a-z0-9_-]{0,31}$/.test(name);
}

/** The lane of an account at a provider. */
export function laneOf(provider: ProviderId, account: string): LaneId {
  return account === DEFAULT_ACCOUNT ? provider : (`${provider}/${account}` as LaneId);
}

/** The provider whose account a lane is. No provider's id has a slash. */
export function providerOf(lane: LaneId): ProviderId {
  const slash = lane.indexOf("/");
  return (slash === -1 ? lane : lane.slice(0, slash)) as ProviderId;
}

/** An account as a choice for a task. */
export interface LaneRoom {
  readonly lane: LaneId;
  /** Tasks that may be under way. */
  readonly capacity: number;
  /** Tasks that wait or are under way. */
  readonly load: number;
  /** Its upstream has asked for a pause. */
  readonly isSlowed: boolean;
}

/** The account with the most room for one more task: one that is slowed only where all are. The earlier one of equals. */
export function roomiest(lanes: readonly LaneRoom[]): LaneId | undefined {
  const awake = lanes.filter(({ isSlowed }) => !isSlowed);
  const share = ({ load, capacity }: LaneRoom) => (load + 1) / capacity;
  return (awake.length === 0 ? lanes : awake).reduce<LaneRoom | undefined>(
    (best, each) => (best === undefined || share(each) < share(best) ? each : best),
    undefined,
  )?.lane;
}
