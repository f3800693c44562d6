import { BEAT_MS, GONE_AFTER_MS, type Node, type NodeStore } from "../domain/ports/node-store.ts";
import type { Log } from "../domain/ports/runtime.ts";

/** Returns a function that waits for the run under way, or begins one, because runs take long while the database is not reachable. */
export function oneAtATime(run: () => Promise<unknown>): () => Promise<unknown> {
  let running: Promise<unknown> | undefined;
  return () => {
    running ??= run().finally(() => {
      running = undefined;
    });
    return running;
  };
}

/** A longer time between two reports is a break. Nodes report several times within it. */
const BREAK_MS = GONE_AFTER_MS / 2;

interface PresenceDeps {
  readonly nodes: Omit<NodeStore, "connected">;
  readonly self: Pick<Node, "id" | "name" | "role" | "version">;
  readonly log: Log;
  readonly followTime: () => Promise<void>;
  /** Milliseconds that never jump. */
  readonly elapsed: () => number;
  /** Called when the rows of the database were moved to a data folder while this node began, or was silent. */
  readonly onMoved: (folder: string) => void;
}

/** Reports regularly that this node is alive, and knows how many others work. */
export function createPresence(deps: PresenceDeps) {
  const { nodes, self, log } = deps;
  const [reports, others] = [createReports(deps.elapsed), createOthers(deps.elapsed)];
  let [workers, count, isDraining, isFailing, hasLeft] = [1, 1, false, false, false];
  let timer: ReturnType<typeof setInterval> | undefined;

  const beat = oneAtATime(async () => {
    // A late report must not bring back a node that has left.
    if (hasLeft) return;
    try {
      await nodes.beat({ ...self, isDraining });
      reports.arrived();
      // Whoever moves rows away says so first, and then looks who is there.
      const { nodes: all, now, movedTo } = await nodes.all();
      if (movedTo !== undefined) return deps.onMoved(movedTo);
      others.told(all);
      workers = Math.max(1, all.filter((node) => worksAt(node, now)).length);
      count = Math.max(1, all.length);
      await deps.followTime();
      isFailing = false;
    } catch (error) {
      if (!isFailing)
        log.warn({ err: error as Error }, "this node cannot say that it is there; trying again");
      isFailing = true;
    }
  });

  return {
    /** Nodes that make what is queued, this one among them; at least one. */
    workers: () => workers,
    /** All nodes, this one among them. */
    count: () => count,
    /** Whether nodes that are silent are gone. While the database was away, none of them could report. */
    isSteady: reports.areSteady,
    /** The nodes that have reported nothing for so long that they are gone, by the clock that never jumps. */
    silent: others.silent,
    /** Reports that this node takes no new tasks. */
    drain(): void {
      isDraining = true;
      // A report that is under way does not contain this.
      void beat().then(beat);
    },
    async start(): Promise<void> {
      await beat();
      timer = setInterval(() => void beat(), BEAT_MS);
    },
    async stop(): Promise<void> {
      clearInterval(timer);
      hasLeft = true;
      await beat();
      // If the database is not reachable, others find out by themselves.
      await nodes.leave(self.id).catch(() => undefined);
    },
  };
}

/** When reports of this node arrived. */
function createReports(elapsed: () => number) {
  let last = Number.NEGATIVE_INFINITY;
  /** The first one after a break. */
  let first = Number.POSITIVE_INFINITY;
  return {
    arrived(): void {
      const now = elapsed();
      if (now - last > BREAK_MS) first = now;
      last = now;
    },
    /** Whether they have arrived without a break for so long that those of all other living nodes have, too. */
    areSteady(): boolean {
      const now = elapsed();
      return now - last <= BREAK_MS && now - first >= GONE_AFTER_MS;
    },
  };
}

/** When this node saw that others had reported. The database's clock may be set, or be another one after a standby took over. */
function createOthers(elapsed: () => number) {
  let known = new Map<string, { readonly seenAt: number; readonly at: number }>();
  return {
    told(nodes: readonly Node[]): void {
      const at = elapsed();
      known = new Map(
        nodes.map(({ id, seenAt }) => {
          const before = known.get(id);
          return [id, before?.seenAt === seenAt ? before : { seenAt, at }];
        }),
      );
    },
    silent: (): string[] =>
      [...known].flatMap(([id, { at }]) => (elapsed() - at >= GONE_AFTER_MS ? [id] : [])),
  };
}

function worksAt({ role, seenAt, isDraining }: Node, now: number): boolean {
  return role !== "api" && !isDraining && now - seenAt < GONE_AFTER_MS;
}
