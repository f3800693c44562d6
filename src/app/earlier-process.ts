import type { NodeStore } from "../domain/ports/node-store.ts";
import type { Counts } from "../domain/ports/tally.ts";
import { createOrphans, type Orphans } from "../service/orphans.ts";
import type { Rooms } from "./rooms.ts";
import { createWaitingCalls, oneLookAtATime } from "./waiting-calls.ts";

const ALONE: Pick<NodeStore, "all" | "connected"> = {
  all: async () => ({ nodes: [], now: 0 }),
  connected: async () => undefined,
};
const HOUR_MS = 60 * 60 * 1000;

/** Lets the last hour of the overview begin before this process did. */
export async function recallEndings({ store, clock, log }: Rooms, tally: Counts): Promise<void> {
  try {
    const endings = await store.tasks.recentEndings(clock.now() - HOUR_MS);
    if (endings !== undefined) tally.recall(endings);
  } catch (error) {
    log.warn(
      { err: error as Error },
      "the tasks of the last hour could not be read; the overview begins now",
    );
  }
}

/**
 * Calls that waited in an earlier process, or at a node that is gone, are gone. An identical new request adopts their task.
 *
 * @returns them; those that other nodes are told of, too; and what looks again for nodes that are gone
 */
export async function readOrphans({ store, clock, cluster }: Rooms) {
  const orphans: Orphans = createOrphans();
  const nodes = cluster?.nodes ?? ALONE;
  const self = cluster?.id ?? "";
  const looks = oneLookAtATime(
    createWaitingCalls({ tasks: store.tasks, orphans, clock, nodes, self }),
    clock,
  );
  await looks.now();
  if (cluster === undefined) return { orphans, toldOrphans: orphans, findLeft: looks.now };
  const lookAgain = async () => {
    if (cluster.count() > 1) await looks.recently(cluster.isSteady());
  };
  return { orphans, toldOrphans: { ...cluster.shareOrphans(orphans), lookAgain }, findLeft: looks.now };
}

export async function countLive({ store }: Pick<Rooms, "store">): Promise<number> {
  const { queued, underWay } = await store.tasks.counts();
  return queued + underWay;
}
