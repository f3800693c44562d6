import type { TaskId } from "../domain/ids.ts";
import { GONE_AFTER_MS, type Node, type NodeStore } from "../domain/ports/node-store.ts";
import type { SteadyClock } from "../domain/ports/runtime.ts";
import type { TaskStore } from "../domain/ports/task-store.ts";
import type { Orphans } from "../service/orphans.ts";

/** Stores with each task whose caller waits at which node that is. The scope of a call has no space. */
export function namingWaits({ admit, ...tasks }: TaskStore, node: string): TaskStore {
  return {
    ...tasks,
    admit(admission) {
      const { task } = admission;
      if (task.syncScope === undefined) return admit(admission);
      return admit({ ...admission, task: { ...task, syncScope: `${task.syncScope} ${node}` } });
    },
  };
}

interface WaitingCallsDeps {
  readonly tasks: Pick<TaskStore, "orphans">;
  readonly orphans: Pick<Orphans, "add" | "forget">;
  readonly clock: Pick<SteadyClock, "elapsed">;
  readonly nodes: Pick<NodeStore, "all" | "connected">;
  /** The id of this node. */
  readonly self: string;
}

/** @param isSteady whether silent nodes are gone; they are unless given */
export type FindLeft = (isSteady?: boolean) => Promise<void>;

/**
 * Returns a function that adds the calls that waited at nodes that are gone. At its first run it adds all that wait, because a node that
 * was just killed seems to live. Later it adds those of nodes that have gone, if told that silent nodes are gone: that have not reported
 * for long, or have no connection to the database any more. It takes back those of nodes that have reported since.
 */
export function createWaitingCalls({ tasks, orphans, clock, nodes, self }: WaitingCallsDeps): FindLeft {
  let isFirst = true;
  let lived: ReadonlySet<string> = new Set();
  const added: Added[] = [];

  /** @param now by the database's clock */
  async function add(now: number, isLeft: (node: string | undefined) => boolean): Promise<void> {
    for (const { syncScope, id } of await tasks.orphans()) {
      // What a process alone has stored, or an earlier version, names none.
      const [scope = "", node] = syncScope.split(" ");
      if (!isLeft(node)) continue;
      const at = clock.elapsed();
      orphans.add(scope, id, at);
      if (node !== undefined) added.push({ node, id, at, since: now });
    }
  }

  return async (isSteady = true) => {
    const { nodes: all, now } = await nodes.all();
    const connected = await nodes.connected(self);
    const isAlive = ({ id, seenAt }: Node) =>
      now - seenAt < GONE_AFTER_MS && (connected === undefined || connected.has(id));
    const lives = new Set(all.filter(isAlive).map(({ id }) => id));
    const hasGone = (node: string) => isSteady && lived.has(node) && !lives.has(node);
    const known = added.splice(0);
    if (isFirst) await add(now, () => true);
    else if ([...lived].some(hasGone)) await add(now, (node) => node !== undefined && hasGone(node));
    isFirst = false;
    for (const each of known) {
      const seenAt = all.find(({ id }) => id === each.node)?.seenAt ?? 0;
      // What its node has said meanwhile to be left stays.
      if (seenAt > each.since) orphans.forget(each.id, each.at);
      else if (now - each.since < GONE_AFTER_MS) added.push(each);
    }
    lived = isSteady ? lives : lives.union(lived);
  };
}

/** A call that was added because its node seems to be gone. */
interface Added {
  readonly node: string;
  readonly id: TaskId;
  readonly at: number;
  /** By the database's clock. */
  readonly since: number;
}

/** How long a look counts: clients wait longer before they send a request again. */
const RECENT_MS = 200;

/** One look for nodes that are gone at a time. */
export interface Looks {
  readonly now: FindLeft;
  /** Does nothing if there was a look just now. Never fails: a create that needs the database says what is wrong with it. */
  recently(isSteady: boolean): Promise<void>;
}

export function oneLookAtATime(find: FindLeft, { elapsed }: Pick<SteadyClock, "elapsed">): Looks {
  let looking: Promise<void> | undefined;
  let lookedAt = Number.NEGATIVE_INFINITY;
  const now: FindLeft = (isSteady) => {
    looking ??= find(isSteady).finally(() => {
      lookedAt = elapsed();
      looking = undefined;
    });
    return looking;
  };
  return {
    now,
    async recently(isSteady) {
      if (looking === undefined && elapsed() - lookedAt < RECENT_MS) return;
      await now(isSteady).catch(() => {});
    },
  };
}
