import { hostname } from "node:os";
import type { Config } from "../config/config.ts";
import type { AccountId, CallbackId, KeyId, TaskId } from "../domain/ids.ts";
import { BEAT_MS } from "../domain/ports/node-store.ts";
import type { RateLimiter } from "../domain/ports/rate-limiter.ts";
import type { Clock, Ids, Log, Seal } from "../domain/ports/runtime.ts";
import type { SealStore } from "../domain/ports/seal-store.ts";
import type { TaskStore } from "../domain/ports/task-store.ts";
import { monotonicMs } from "../runtime/clock.ts";
import { createSecrets } from "../runtime/secrets.ts";
import type { Feeds } from "../runtime/signals.ts";
import type { Orphans } from "../service/orphans.ts";
import type { Store } from "../store/open.ts";
import type { Bus } from "../store/postgres/bus.ts";
import type { Connection, ConnectionOptions } from "../store/postgres/connection.ts";
import { VERSION } from "../version.ts";
import type { Releases } from "./lifecycle.ts";
import { createPresence, oneAtATime } from "./presence.ts";
import { createSharedBooks } from "./shared-books.ts";
import { ownerOfDatabase } from "./shared-database.ts";
import { type FindLeft, namingWaits } from "./waiting-calls.ts";

/** Characters of a node's id: enough that no two nodes of a database ever share one. */
const ID_LENGTH = 12;

/** What a node does when it hears from others: it looks for due tasks and for due callbacks. */
interface Woken {
  wake(): void;
  callbacksDue(): void;
  /** Counts again how busy accounts are: all waiting tasks. */
  recount(): Promise<void>;
  /** Takes over tasks of nodes that are gone. */
  rescue(): Promise<void>;
  /** Plans the cancels that other nodes have planned: one that is gone cancels nothing, and what it told may be lost. */
  resume(): Promise<void>;
  /** Finds the calls that waited at nodes that are gone. */
  readonly findLeft: FindLeft;
  readonly orphans: Orphans;
}

type NodeConfig = Pick<Config, "role" | "nodeName" | "databaseConnections" | "databaseReplica">;

interface ClusterDeps {
  readonly log: Log;
  /** Called when this node must not go on. */
  readonly onFatal?: ((error: unknown) => void) | undefined;
}

/** This process among others that serve the same PostgreSQL database. */
export type Cluster = Awaited<ReturnType<typeof connect>>;

/**
 * Connects to the database that nodes share, if there is one, and follows its clock.
 *
 * @throws StorageError if the database cannot be reached
 */
export async function openCluster(
  config: Pick<Config, "database"> & NodeConfig,
  deps: ClusterDeps,
  releases: Releases,
): Promise<Cluster | undefined> {
  return config.database && (await connect(config, { ...deps, url: config.database.reveal() }, releases));
}

async function connect(
  config: NodeConfig,
  { log, url, onFatal }: ClusterDeps & { readonly url: string },
  releases: Releases,
) {
  const { createBus, movedAway, openConnection, openStoreOn, ...loaded } = await loadStore();
  const { createNodeStore, followDatabaseTime, createSharedRateLimiter, urlOfNode } = loaded;
  const id = createSecrets().newBody().slice(0, ID_LENGTH);
  const connection = openConnection({
    ...{ url: urlOfNode(url, id), connections: config.databaseConnections, deadlineMs: DEADLINE_MS },
    ...outageTelling(log),
  });
  const [nodes, bus] = [createNodeStore(connection), createBus(connection.driver, id)];
  releases.push(() => connection.stop());
  const replica = await openReplicaOf(connection, config, { log }, releases);
  const time = await connection.opening(() => followDatabaseTime(connection, monotonicMs));
  const self = { id, name: config.nodeName ?? hostname(), role: config.role, version: VERSION };
  const onMoved = (folder: string) => onFatal?.(movedAway(folder));
  const presence = createPresence({ nodes, self, log, followTime: time.look, elapsed: monotonicMs, onMoved });
  const { workers, count, isSteady, silent, drain } = presence;
  let joined: Woken | undefined;
  // A wake-up before a create is stored comes too early. The task is visible only after its transaction has ended.
  const queued = () => {
    joined?.wake();
    bus.tell("queued");
  };
  return {
    ...{ id, nodes, now: time.now, replica, workers, count, isSteady, drain },
    /** Opens the stores of the database, with leases that name this node. */
    async open({ ids, seal }: { ids: Ids; seal: Seal }): Promise<Store> {
      const parts = { ids: tokensOf(id, ids), seal, readers: replica, isSteady, silent };
      return telling(await openStoreOn(connection, parts), id, bus, queued);
    },
    /** Reads the books of the database. */
    books: (keepSeals: SealStore["keep"]) => createSharedBooks(connection, replica ?? connection, keepSeals),
    /** Counts requests together with other nodes; alone while the database is not reachable. */
    rateLimiter: (alone: RateLimiter, clock: Clock) =>
      createSharedRateLimiter(connection.driver, { clock, alone, nodes: count }),
    /** The owner of the files in a bucket. */
    owner: () => ownerOfDatabase(connection, url),
    /** Feeds, and tasks whose callers have left, that other nodes are told of, and that hear of theirs. */
    share: (feeds: Feeds): Feeds => shared(feeds, bus.tell),
    shareOrphans: (orphans: Orphans): Orphans => sharedOrphans(orphans, bus.tell),
    /** Other nodes are told that callbacks are due. */
    tellCallbacksDue: () => bus.tell("callbacks"),
    /** Joins: reports that this node is alive, listens to others, and also looks every second in case a message was lost. */
    async start(feeds: Feeds, self: Woken): Promise<void> {
      joined = self;
      const wakeAll = () => {
        self.wake();
        self.callbacksDue();
      };
      await replica?.start();
      await hearOthers(bus, feeds, self, wakeAll);
      await presence.start();
      releases.push(presence.stop, every(LOOK_MS, wakeAll), ...tidying(self, presence, connection, loaded));
    },
  };
}

const tokensOf = (node: string, ids: Pick<Ids, "leaseToken">): Pick<Ids, "leaseToken"> => ({
  leaseToken: () => `${node}.${ids.leaseToken()}` as ReturnType<Ids["leaseToken"]>,
});

const outageTelling = (log: Log): Pick<ConnectionOptions, "onOutage" | "onOutageEnded"> => ({
  onOutage: ({ kind, cause }) =>
    log.error(
      { reason: kind, detail: cause instanceof Error ? cause.message : undefined },
      "the database cannot be written; trying again",
    ),
  onOutageEnded: (ms) => log.warn({ ms }, "the database can be written again"),
});

/** The copy of the database that answers lists and reports, if there is one. */
async function openReplicaOf(
  primary: Connection,
  { databaseReplica, databaseConnections: connections }: NodeConfig,
  { log }: { readonly log: Log },
  releases: Releases,
) {
  if (databaseReplica === undefined) return undefined;
  const { openReplica } = await import("../store/postgres/replica.ts");
  const replica = openReplica({
    ...{ url: databaseReplica.reveal(), connections, primary, elapsed: monotonicMs },
    onTrouble: ({ kind, reason }) => {
      const words = "lists and reports are read from the database itself, without its replica";
      log[kind === "wrong" ? "error" : "warn"]({ reason: kind, detail: reason }, words);
    },
    onUsed: () => log.info({}, "lists and reports are read from the database's replica"),
  });
  releases.push(() => replica.stop());
  return replica;
}

/** Loaded late, because a service on a file needs none of it. */
const loadStore = async () => ({
  ...(await import("../store/postgres/bus.ts")),
  ...(await import("../store/postgres/connection.ts")),
  ...(await import("../store/postgres/moved-away.ts")),
  ...(await import("../store/postgres/node-store.ts")),
  ...(await import("../store/postgres/open.ts")),
  ...(await import("../store/postgres/rate-limiter.ts")),
  ...(await import("../store/postgres/statistics.ts")),
});

/** Repeats the work that nodes do for each other. @returns a function that ends it */
function tidying(
  { recount, rescue, resume, findLeft }: Woken,
  { isSteady }: { readonly isSteady: () => boolean },
  { driver }: Pick<Connection, "driver">,
  {
    forgetWindows,
    keepStatistics,
  }: Pick<Awaited<ReturnType<typeof loadStore>>, "forgetWindows" | "keepStatistics">,
): (() => void)[] {
  const tidy = oneAtATime(() => Promise.all([recount(), rescue(), forgetWindows(driver)]).catch(() => {}));
  // Each runs separately, because it takes seconds if there is much to do.
  const look = oneAtATime(() => keepStatistics(driver).catch(() => {}));
  const plan = oneAtATime(() => resume().catch(() => {}));
  // After the database was away, nodes are silent that live.
  const find = oneAtATime(() => findLeft(isSteady()).catch(() => {}));
  return [tidy, look, plan, find].map((work) => every(BEAT_MS, work));
}

/** Repeats work that never fails. @returns a function that ends it */
function every(ms: number, run: () => unknown): () => void {
  const timer = setInterval(run, ms);
  return () => clearInterval(timer);
}

/** How long a statement may have no answer. Statements that legitimately take longer, such as an audit's, have no deadline. */
const DEADLINE_MS = 30_000;
/** How often a node looks for work by itself. */
const LOOK_MS = 1_000;

/** The store closes the connection, by which other nodes are told. The last calls that were left are told of before that. */
function telling(store: Store, node: string, bus: Pick<Bus, "sent">, queued: () => void): Store {
  const tasks = tellingOfAdmissions(namingWaits(store.tasks, node), queued);
  return { ...store, tasks, stop: () => bus.sent().then(store.stop) };
}

/** Tells other nodes that tasks are queued, after they are stored. */
function tellingOfAdmissions(tasks: TaskStore, tell: () => void): TaskStore {
  return {
    ...tasks,
    async admit(admission) {
      const result = await tasks.admit(admission);
      if (result.kind === "admitted") tell();
      return result;
    },
    async admitAll(admissions) {
      const result = await tasks.admitAll(admissions);
      if (result.kind === "accepted") tell();
      return result;
    },
  };
}

function shared(feeds: Feeds, tell: (told: string) => void): Feeds {
  const { feed, redeliveries } = feeds;
  return {
    ...feeds,
    feed: {
      ...feed,
      publish(task, isOver) {
        feed.publish(task, isOver);
        tell(`task ${task.id} ${task.accountId} ${isOver ? 1 : 0}`);
      },
    },
    redeliveries: {
      ...redeliveries,
      publish(key, callback) {
        redeliveries.publish(key, callback);
        tell(`redelivery ${key} ${callback}`);
      },
    },
  };
}

function sharedOrphans(orphans: Orphans, tell: (told: string) => void): Orphans {
  return {
    ...orphans,
    add(scope, id, now) {
      orphans.add(scope, id, now);
      tell(`left ${scope} ${id}`);
    },
    adopt(scope, now) {
      const id = orphans.adopt(scope, now);
      if (id !== undefined) tell(`adopted ${id}`);
      return id;
    },
  };
}

/** Hears what others tell. Where some of it may be lost, looks for work, and asks which calls were left. */
function hearOthers(bus: Bus, feeds: Feeds, woken: Woken, wakeAll: () => void): Promise<void> {
  const missed = () => {
    wakeAll();
    bus.tell("which left");
  };
  const hearLine = (told: string) => {
    if (told !== "which left") return hear(told, feeds, woken);
    for (const [scope, id] of woken.orphans.all()) bus.tell(`left ${scope} ${id}`);
  };
  return bus.listen(hearLine, missed);
}

/** @param told a line from another node, possibly of another version; unknown lines are ignored */
function hear(told: string, { feed, redeliveries }: Feeds, woken: Woken): void {
  const [kind, first = "", second = "", third] = told.split(" ");
  if (kind === "queued") woken.wake();
  if (kind === "callbacks") woken.callbacksDue();
  // Safe: nodes send ids of existing things.
  if (kind === "task") feed.publish({ id: first as TaskId, accountId: second as AccountId }, third === "1");
  if (kind === "redelivery") redeliveries.publish(first as KeyId, second as CallbackId);
  if (kind === "left") woken.orphans.add(first, second as TaskId, monotonicMs());
  if (kind === "adopted") woken.orphans.forget(first as TaskId);
}
