import type { TaskId } from "../domain/ids.ts";
import { GONE_AFTER_MS, type NodeStore } from "../domain/ports/node-store.ts";
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
  readonly nodes: Pick<NodeStore, "all">;
}

/** @param isSteady whether silent nodes are gone; they are unless given */
export type FindLeft = (isSteady?: boolean) => Promise<void>;

/**
 * Returns a function that adds the calls that waited at nodes that are gone. At its first run it adds all that wait, because a node that
 * was just killed seems to live. Later it takes back those of nodes that have reported since, and adds those of nodes that have gone,
 * if told that silent nodes are gone.
 */
export function createWaitingCalls({ tasks, orphans, clock, nodes }: WaitingCallsDeps): FindLeft {
  /** By the database's clock. */
  let beganAt: number | undefined;
  let lived: ReadonlySet<string> = new Set();
  const added: { readonly node: string; readonly id: TaskId; readonly at: number }[] = [];

  async function add(isLeft: (node: string | undefined) => boolean): Promise<void> {
    for (const { syncScope, id } of await tasks.orphans()) {
      // What a process alone has stored, or an earlier version, names none.
      const [scope = "", node] = syncScope.split(" ");
      if (!isLeft(node)) continue;
      const at = clock.elapsed();
      orphans.add(scope, id, at);
      if (node !== undefined && beganAt === undefined) added.push({ node, id, at });
    }
  }

  return async (isSteady = true) => {
    const { nodes: all, now } = await nodes.all();
    const lives = new Set(all.filter(({ seenAt }) => now - seenAt < GONE_AFTER_MS).map(({ id }) => id));
    const hasGone = (node: string) => isSteady && lived.has(node) && !lives.has(node);
    if (beganAt === undefined) await add(() => true);
    else if ([...lived].some(hasGone)) await add((node) => node !== undefined && hasGone(node));
    const since = beganAt ?? now;
    beganAt = since;
    for (const each of added.splice(0)) {
      const seenAt = all.find(({ id }) => id === each.node)?.seenAt ?? 0;
      // What its node has said meanwhile to be left stays.
      if (seenAt > since) orphans.forget(each.id, each.at);
      else if (lives.has(each.node)) added.push(each);
    }
    lived = isSteady ? lives : lives.union(lived);
  };
}
