import { readPostgresAddress } from "../../toolkit/postgres-address.ts";
import { type Connection, readOneMoment } from "./connection.ts";
import { type Driver, openDriver } from "./driver.ts";
import { asStorageError } from "./errors.ts";
import { refusal } from "./refusals.ts";
import { createLag } from "./replica-lag.ts";
import { lookAtServer, requireReplica, WrongReplica } from "./replica-look.ts";
import type { Session } from "./session.ts";

/** Reads that may be some seconds old. */
export type Readers = Pick<Connection, "read" | "readAtOnce">;

/** Why reads go to the primary: the replica is behind, cannot be reached, or belongs to another database. */
export interface ReplicaTrouble {
  readonly kind: "behind" | "away" | "wrong";
  /** What is wrong, and what to do. It contains no password. */
  readonly reason: string;
}

export interface ReplicaOptions {
  readonly url: string;
  readonly connections: number;
  readonly primary: Readers & Pick<Connection, "driver">;
  /** Milliseconds that never jump. */
  readonly elapsed: () => number;
  /** Called once when reads switch to the primary. */
  readonly onTrouble: (trouble: ReplicaTrouble) => void;
  /** Called once when reads switch to the replica. */
  readonly onUsed: () => void;
  /** How far it may be behind; `MOST_LAG_MS` unless given. */
  readonly mostMs?: number | undefined;
  readonly lookEveryMs?: number | undefined;
}

/** A copy of the database, or a pool of copies, that answers reads which may be some seconds old. */
export interface Replica extends Readers {
  /** The most that it is behind; undefined while that is not known. */
  lagMs(): number | undefined;
  isUsed(): boolean;
  /** Checks it now and repeatedly from then on. It does no harm if the replica is not reachable. @throws WrongReplica */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** The most that a list or a report may be behind. */
export const MOST_LAG_MS = 10_000;
const LOOK_EVERY_MS = 1_000;

/**
 * Opens a replica. Nothing is sent before `start`, and until then all reads go to the primary. Reads that the replica does not
 * answer also go there, and all reads while it is not reachable or too far behind.
 */
export function openReplica(options: ReplicaOptions): Replica {
  const { primary } = options;
  const watch = createWatch(options);

  /** Reads from the replica; if that fails, from the primary. */
  async function orPrimary<T>(ask: (driver: Driver) => Promise<T>, fallback: () => Promise<T>): Promise<T> {
    if (!watch.isUsed()) return fallback();
    const { driver, lost } = watch.link();
    return await Promise.race([ask(driver), lost]).catch(fallback);
  }

  return {
    read: <T>(query: (session: Session) => Promise<T>) => orPrimary(query, () => primary.read(query)),
    readAtOnce: <T>(query: (session: Session) => Promise<T>) =>
      orPrimary(
        (driver) => readOneMoment(driver, query),
        () => primary.readAtOnce(query),
      ),
    lagMs: watch.lagMs,
    isUsed: watch.isUsed,
    start: watch.start,
    stop: watch.stop,
  };
}

/** Checks a replica repeatedly, and knows whether it can be used. */
function createWatch(options: ReplicaOptions) {
  const { primary, elapsed, mostMs = MOST_LAG_MS, lookEveryMs = LOOK_EVERY_MS } = options;
  const [lag, standing] = [createLag(elapsed), createStanding(options)];
  const beganAt = elapsed();
  const links = createLinks(options);
  let timer: ReturnType<typeof setTimeout> | undefined;
  let [isStarted, isStopped] = [false, false];
  const isCurrent = () => (lag.ms() ?? Number.POSITIVE_INFINITY) <= mostMs;

  function tellLag(): void {
    // At first nobody knows how far it is behind.
    const isNew = lag.ms() === undefined && elapsed() - beganAt <= mostMs;
    if (isCurrent()) standing.enter(undefined);
    else if (!isNew) standing.enter(behind(mostMs));
  }

  async function look(): Promise<void> {
    // To be as new as this moment, the replica must reach the primary's present position.
    const at = elapsed();
    const here = await lookAtServer(primary.driver.aside).catch(() => undefined);
    // Without the primary nobody knows how far the replica is behind, and it soon counts as too far behind.
    if (here === undefined) return void (standing.isGood() && tellLag());
    lag.note(here.position, at);
    try {
      const there = await links.look(mostMs / 2);
      requireReplica(here, there);
      lag.reached(there.position);
      tellLag();
    } catch (error) {
      if (!isStarted && error instanceof WrongReplica) throw error;
      if (!isStopped) standing.enter(troubleOf(error, options.url));
    }
  }

  async function lookOn(): Promise<void> {
    await look();
    isStarted = true;
    if (!isStopped) timer = setTimeout(lookOn, lookEveryMs);
  }

  return {
    isUsed: () => standing.isGood() && isCurrent(),
    lagMs: lag.ms,
    link: links.now,
    start: lookOn,
    async stop(): Promise<void> {
      isStopped = true;
      clearTimeout(timer);
      links.now().lose();
    },
  };
}

/** Connections to a replica. New ones are opened if they do not answer. */
function createLinks(options: Pick<ReplicaOptions, "url" | "connections">) {
  let link = openLink(options);
  return {
    now: () => link,
    /** @throws the replica's error, or an error if it takes longer */
    async look(withinMs: number): ReturnType<typeof lookAtServer> {
      try {
        return await within(withinMs, lookAtServer(link.driver.aside));
      } catch (error) {
        // The old connections may never answer. Reads that wait for them go to the primary, and the next check uses new ones.
        link.lose();
        link = openLink(options);
        throw error;
      }
    },
  };
}

/** @throws Error when it takes longer */
async function within<T>(ms: number, asked: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const limit = setTimeout(() => late.reject(new Error("It does not answer.")), ms);
  try {
    return await Promise.race([asked, late.promise]);
  } finally {
    clearTimeout(limit);
  }
}

/** Whether the replica can be used, according to the last check. */
function createStanding({ onTrouble, onUsed }: Pick<ReplicaOptions, "onTrouble" | "onUsed">) {
  let known: ReplicaTrouble | "good" | undefined;
  return {
    isGood: () => known === "good",
    enter(next: ReplicaTrouble | undefined): void {
      const before = known;
      known = next ?? "good";
      if (next === undefined && before !== "good") onUsed();
      if (next !== undefined && (before === "good" || before?.kind !== next.kind)) onTrouble(next);
    },
  };
}

const behind = (mostMs: number): ReplicaTrouble => ({
  kind: "behind",
  reason: `It is more than ${mostMs / 1_000} seconds behind. See that it receives and replays the log: pg_stat_wal_receiver there, pg_stat_replication at the primary.`,
});

function troubleOf(error: unknown, url: string): ReplicaTrouble {
  if (error instanceof WrongReplica) return { kind: "wrong", reason: error.message };
  const known = refusal(asStorageError(error) ?? error, readPostgresAddress(url)) ?? error;
  return { kind: "away", reason: known instanceof Error ? known.message : String(known) };
}

/** Connections to a replica. When they are given up, everybody who waits for them gets an error. */
function openLink({ url, connections }: Pick<ReplicaOptions, "url" | "connections">) {
  const driver = openDriver({ url, most: connections });
  const lost = Promise.withResolvers<never>();
  lost.promise.catch(() => {});
  return {
    driver,
    lost: lost.promise,
    lose(): void {
      lost.reject(new Error("The replica does not answer."));
      driver.close().catch(() => {});
    },
  };
}
