import { Cluster, type Fleet, type Node } from "./cluster.ts";
import { World } from "./engine.ts";
import { type ServiceTimes, STEPS } from "./service-times.ts";

const SECOND_US = 1_000_000;

/** What comes. */
export type Load =
  /** So many tasks a second, whatever becomes of them; so large a share of them of one account. */
  | {
      readonly kind: "offered";
      readonly perSecond: number;
      readonly largestShare: number;
      readonly polls: number;
    }
  /** So many clients that create as soon as they are answered, while nobody works. */
  | { readonly kind: "clients"; readonly clients: number }
  /** So many tasks that wait when workers begin. */
  | { readonly kind: "waiting"; readonly tasks: number };

export interface Simulated {
  readonly created: number;
  readonly begun: number;
  readonly ended: number;
  /** Accepted and not ended when time was up. */
  readonly inside: number;
  readonly createdPerSecond: number;
  readonly endedPerSecond: number;
  readonly createMs: { readonly p50: number; readonly p99: number };
  /** From the answer to a create until a worker takes the task. */
  readonly beginMs: { readonly p50: number; readonly p99: number };
  readonly heldUs: number;
  readonly perTransaction: number;
  readonly used: Readonly<Record<Part, number>>;
}

/** What may have no more to give. The log is none: one flush is for all who wait, so that it only takes longer. */
export const PARTS = ["api nodes", "workers", "database", "account", "connections"] as const;
export type Part = (typeof PARTS)[number];

/** Plays tasks for so many seconds, after some that do not count. */
export function simulate(options: {
  readonly times: ServiceTimes;
  readonly fleet: Fleet;
  readonly load: Load;
  readonly seconds: number;
  readonly seed: number;
}): Simulated {
  const { times, fleet, load, seconds, seed } = options;
  const world = new World(seed);
  const run = new Run(new Cluster(world, times, fleet, speedOf(times, load)), load);
  run.begin();
  if (load.kind === "waiting") return run.untilEnded(load.tasks);
  world.run((seconds / 4) * SECOND_US);
  run.reset();
  world.run((seconds / 4 + seconds) * SECOND_US);
  return run.result();
}

/** Hearing of every task takes a share of each node's processor. What is left is slower by as much. */
function speedOf({ hearUs, idleNodeUs }: ServiceTimes, load: Load): number {
  const heard = load.kind === "offered" ? load.perSecond * hearUs : 0;
  return Math.max(0.01, 1 - (heard + idleNodeUs) / SECOND_US);
}

class Run {
  readonly #ready: { readonly account: number; readonly readyAt: number }[] = [];
  #first = 0;
  readonly #underWay = new Map<Node, number>();
  #counts = { created: 0, begun: 0, ended: 0 };
  #before = 0;
  #since = 0;
  #creates: number[] = [];
  #begins: number[] = [];
  #nextApi = 0;

  constructor(
    private readonly cluster: Cluster,
    private readonly load: Load,
  ) {}

  begin(): void {
    const { cluster, load } = this;
    for (const worker of cluster.workers) this.#underWay.set(worker, 0);
    for (const node of cluster.nodes) this.#look(node);
    if (load.kind === "clients") for (let i = 0; i < load.clients; i++) this.#client();
    if (load.kind === "offered") this.#arrive(load.perSecond, load.largestShare);
    if (load.kind !== "waiting") return;
    this.#before = load.tasks;
    for (let i = 0; i < load.tasks; i++) this.#ready.push({ account: 0, readyAt: 0 });
    this.#take();
  }

  reset(): void {
    const { cluster } = this;
    this.#before = this.#inside();
    this.#counts = { created: 0, begun: 0, ended: 0 };
    this.#since = cluster.world.now;
    [this.#creates, this.#begins] = [[], []];
    for (const places of this.#allPlaces()) places.reset();
    [cluster.transactions, cluster.heldUs] = [0, 0];
  }

  untilEnded(tasks: number): Simulated {
    const { world } = this.cluster;
    while (this.#counts.ended < tasks) world.run(world.now + SECOND_US / 100);
    return this.result();
  }

  result(): Simulated {
    const { cluster } = this;
    const { created, begun, ended } = this.#counts;
    const seconds = (cluster.world.now - this.#since) / SECOND_US;
    return {
      ...{ created, begun, ended, inside: this.#inside() },
      ...{ createdPerSecond: created / seconds, endedPerSecond: ended / seconds },
      createMs: quantiles(this.#creates),
      beginMs: quantiles(this.#begins),
      heldUs: cluster.heldUs / Math.max(1, cluster.transactions),
      perTransaction: (created + STEPS * ended) / Math.max(1, cluster.transactions),
      used: this.#used(),
    };
  }

  #inside(): number {
    return this.#before + this.#counts.created - this.#counts.ended;
  }

  #allPlaces() {
    const { cluster } = this;
    return [
      cluster.database,
      ...cluster.rows(),
      ...cluster.nodes.flatMap(({ core, connections }) => [core, connections]),
    ];
  }

  #used(): Simulated["used"] {
    const { cluster } = this;
    const most = (places: readonly { passed(): { utilisation: number } }[]) =>
      Math.max(0, ...places.map((each) => each.passed().utilisation));
    return {
      "api nodes": most(cluster.apis.map(({ core }) => core)),
      workers: most(cluster.workers.map(({ core }) => core)),
      database: most([cluster.database]),
      account: most(cluster.rows()),
      connections: most(cluster.nodes.map(({ connections }) => connections)),
    };
  }

  /** What a node asks for by itself: looks for work, its beat, counts. */
  #look(node: Node): void {
    const { world, times } = this.cluster;
    if (times.idleStatements <= 0) return;
    world.after(world.exponential(SECOND_US / times.idleStatements), () => {
      this.cluster.ask(times.idleDatabaseUs / times.idleStatements);
      this.#look(node);
    });
  }

  #arrive(perSecond: number, largestShare: number): void {
    const { world, fleet } = this.cluster;
    world.after(world.exponential(SECOND_US / perSecond), () => {
      this.#arrive(perSecond, largestShare);
      const isLargest = fleet.accounts === 1 || world.random() < largestShare;
      this.#create(isLargest ? 0 : 1 + Math.floor(world.random() * (fleet.accounts - 1)), () => {});
    });
  }

  #client(): void {
    const { cluster } = this;
    const us = cluster.world.exponential(cluster.times.clientUs);
    const next = () => this.#create(0, () => this.#client());
    if (cluster.shared === undefined) cluster.world.after(us, next);
    else cluster.shared.serve(us, next);
  }

  #create(account: number, answered: () => void): void {
    const { cluster } = this;
    const { world, times } = cluster;
    const askedAt = world.now;
    const node = cluster.apis[this.#nextApi++ % cluster.apis.length] as Node;
    cluster.compute(node, times.createNodeUs, () => {
      this.#aside(times.createAside);
      cluster.write(node, account, times.createRowsUs, () => {
        this.#creates.push(world.now - askedAt);
        this.#counts.created += 1;
        if (cluster.workers.length > 0) this.#queue(node, account);
        answered();
      });
    });
  }

  #queue(node: Node, account: number): void {
    const { cluster } = this;
    cluster.tell(node);
    const readyAt = cluster.world.now;
    cluster.world.after(cluster.times.roundTripUs, () => {
      this.#ready.push({ account, readyAt });
      this.#take();
    });
  }

  /** Workers that have room take what is ready, whoever is least busy first. */
  #take(): void {
    const { cluster } = this;
    while (this.#first < this.#ready.length) {
      const worker = this.#leastBusy();
      const task = this.#ready[this.#first];
      if (worker === undefined || task === undefined) return;
      this.#first += 1;
      if (this.#first > 1_000) {
        this.#ready.splice(0, this.#first);
        this.#first = 0;
      }
      this.#underWay.set(worker, (this.#underWay.get(worker) ?? 0) + 1);
      this.#counts.begun += 1;
      this.#begins.push(cluster.world.now - task.readyAt);
      this.#step(worker, task.account, this.#steps());
    }
  }

  #steps(): number {
    return STEPS + (this.load.kind === "offered" ? this.load.polls : 0);
  }

  /** Of two that are picked, the one with less under way: as good as asking all, and as nodes do that take when they have room. */
  #leastBusy(): Node | undefined {
    const { workers, world, fleet } = this.cluster;
    const pick = () => workers[Math.floor(world.random() * workers.length)];
    const [one, other] = [pick(), pick()];
    const load = (node: Node | undefined) =>
      node === undefined ? fleet.concurrency : (this.#underWay.get(node) ?? 0);
    const best = load(one) <= load(other) ? one : other;
    if (load(best) < fleet.concurrency) return best;
    return workers.find((node) => load(node) < fleet.concurrency);
  }

  #step(worker: Node, account: number, left: number): void {
    const { cluster } = this;
    const { times } = cluster;
    cluster.compute(worker, times.workNodeUs / STEPS, () => {
      this.#aside(times.workAside / STEPS);
      cluster.write(worker, account, times.stepRowsUs, () => {
        cluster.tell(worker);
        if (left > 1) this.#step(worker, account, left - 1);
        else this.#end(worker);
      });
    });
  }

  #end(worker: Node): void {
    this.#counts.ended += 1;
    this.#underWay.set(worker, (this.#underWay.get(worker) ?? 1) - 1);
    this.#take();
  }

  /** Statements beside transactions: so many on average. */
  #aside(mean: number): void {
    const { world, times } = this.cluster;
    for (let left = mean; left > 0; left -= 1)
      if (left >= 1 || world.random() < left) this.cluster.ask(times.statementUs);
  }
}

function quantiles(us: readonly number[]): { readonly p50: number; readonly p99: number } {
  const sorted = us.toSorted((one, other) => one - other);
  const at = (share: number) =>
    (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN) / 1000;
  return { p50: at(0.5), p99: at(0.99) };
}
