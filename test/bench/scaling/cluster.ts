import type { World } from "./engine.ts";
import { ROUND_TRIPS, type ServiceTimes } from "./service-times.ts";
import { Flusher, Places } from "./stations.ts";

/** Machines, and what they do. */
export interface Fleet {
  readonly apis: number;
  readonly workers: number;
  /** Tasks that a worker has under way at once. */
  readonly concurrency: number;
  readonly connections: number;
  readonly databaseCores: number;
  /** Everything runs on this many cores, as on the machine that was measured; absent: a core for each node, others for the database. */
  readonly sharedCores?: number | undefined;
  readonly accounts: number;
}

/** As many writes share a transaction, at most (src/store/postgres/gathered.ts). */
const MOST_TOGETHER = 64;

/** The writes of an account that wait at a node, and whether one of its transactions is under way. */
interface Gathering {
  waiting: { readonly us: number; readonly done: () => void }[];
  isWriting: boolean;
}

export interface Node {
  readonly core: Places;
  readonly connections: Places;
  readonly gathering: Map<number, Gathering>;
  isTelling: boolean;
  hasMore: boolean;
}

/** Nodes and the database that they share. */
export class Cluster {
  readonly apis: readonly Node[];
  readonly workers: readonly Node[];
  readonly database: Places;
  readonly log: Flusher;
  readonly shared: Places | undefined;
  readonly #rows = new Map<number, Places>();
  transactions = 0;
  heldUs = 0;
  notifications = 0;

  constructor(
    readonly world: World,
    readonly times: ServiceTimes,
    readonly fleet: Fleet,
    /** Of a node's processor, what is left beside hearing of others' tasks. */
    private readonly speed: number,
  ) {
    const { apis, workers, connections, sharedCores, databaseCores } = fleet;
    this.shared = sharedCores === undefined ? undefined : new Places(world, sharedCores);
    this.database = this.shared ?? new Places(world, databaseCores);
    this.log = new Flusher(world, times.flushUs);
    const nodes = (count: number): Node[] =>
      Array.from({ length: count }, () => ({
        core: new Places(world, 1),
        connections: new Places(world, connections),
        gathering: new Map(),
        ...{ isTelling: false, hasMore: false },
      }));
    [this.apis, this.workers] = [nodes(apis), nodes(workers)];
  }

  get nodes(): readonly Node[] {
    return [...this.apis, ...this.workers];
  }

  row(account: number): Places {
    return this.#rows.getOrInsertComputed(account, () => new Places(this.world, 1));
  }

  rows(): readonly Places[] {
    return [...this.#rows.values()];
  }

  /** A node computes: one thing at a time, on a core of its own or on one that all share. */
  compute(node: Node, meanUs: number, done: () => void): void {
    const us = this.world.exponential(meanUs) / this.speed;
    const { shared } = this;
    if (shared === undefined) node.core.serve(us, done);
    else
      node.core.take((leave) =>
        shared.serve(us, () => {
          leave();
          done();
        }),
      );
  }

  /** A statement by itself. */
  ask(us: number, done: () => void = () => {}): void {
    this.database.serve(this.world.exponential(us), done);
  }

  /** Writes for an account, together with what else waits for it at this node. */
  write(node: Node, account: number, us: number, done: () => void): void {
    const gathering = node.gathering.getOrInsertComputed(account, () => ({ waiting: [], isWriting: false }));
    gathering.waiting.push({ us, done });
    if (!gathering.isWriting) this.#transact(node, account, gathering);
  }

  /** Tells all other nodes: what is to be told while a notification is under way goes together. */
  tell(node: Node): void {
    if (node.isTelling) {
      node.hasMore = true;
      return;
    }
    node.isTelling = true;
    this.notifications += 1;
    const { statementUs, listenUs, roundTripUs } = this.times;
    const others = this.fleet.apis + this.fleet.workers - 1;
    this.ask(statementUs + others * listenUs, () =>
      this.world.after(roundTripUs, () => {
        node.isTelling = false;
        if (!node.hasMore) return;
        node.hasMore = false;
        this.tell(node);
      }),
    );
  }

  #transact(node: Node, account: number, gathering: Gathering): void {
    const { world, times } = this;
    gathering.isWriting = true;
    node.connections.take((leaveConnection) =>
      this.row(account).take((leaveRow) => {
        const heldFrom = world.now;
        const together = gathering.waiting.splice(0, MOST_TOGETHER);
        const us = times.transactionUs + together.reduce((sum, each) => sum + each.us, 0);
        world.after(ROUND_TRIPS * times.roundTripUs, () =>
          this.ask(us, () =>
            this.log.join(() => {
              leaveRow();
              leaveConnection();
              this.transactions += 1;
              this.heldUs += world.now - heldFrom;
              for (const each of together) each.done();
              gathering.isWriting = false;
              if (gathering.waiting.length > 0) this.#transact(node, account, gathering);
            }),
          ),
        );
      }),
    );
  }
}
