import { TIMELINE } from "./commit-outcome.ts";
import { openConnection } from "./connection.ts";
import { type Session, statement } from "./session.ts";

/** The state of a server and of the database there. */
export interface ServerLook {
  /** Identifies the cluster. A standby has its primary's id, and a copy that was dumped and restored has another one. */
  readonly system: string;
  /** The database's number in the cluster. */
  readonly database: number;
  readonly isStandby: boolean;
  /** On a primary: changes each time that a standby takes over. */
  readonly timeline: string | null;
  /** The position of the cluster's log there: what is safe on a primary, and what can be read on a standby. */
  readonly position: number;
  /** How long ago, in milliseconds, the last transaction that a standby can show was committed; null if it knows none. */
  readonly lastMs: number | null;
}

const LOOK = statement<Omit<ServerLook, "isStandby"> & { readonly standby: 0 | 1 }>(
  `select (select system_identifier::text from pg_control_system()) as system,
     (select oid::bigint from pg_database where datname = current_database()) as database,
     pg_is_in_recovery()::int as standby, case when not pg_is_in_recovery() then ${TIMELINE} end as timeline,
     (case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_flush_lsn() end - '0/0'::pg_lsn)::bigint as position,
     (extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp()) * 1000)::bigint as "lastMs"`,
);

export async function lookAtServer(session: Session): Promise<ServerLook> {
  const row = await LOOK.get(session);
  if (row === undefined) throw new Error("The database said nothing of itself.");
  const { standby, ...look } = row;
  return { ...look, isStandby: standby === 1 };
}

/** A server that is no replica of the database. Its message says what to do. */
export class WrongReplica extends Error {
  override readonly name = "WrongReplica";
}

/** @throws WrongReplica unless the second server has the database of the first, or is that one */
export function requireReplica(primary: ServerLook, replica: ServerLook): void {
  if (primary.system !== replica.system)
    throw new WrongReplica(
      "database_replica is a server of another cluster than database. Name a streaming standby of that server, or leave it out.",
    );
  if (primary.database !== replica.database)
    throw new WrongReplica(
      "database_replica names another database of the same cluster. Give it the name that the database has in database.",
    );
  if (!replica.isStandby && replica.timeline !== primary.timeline)
    throw new WrongReplica(
      "database_replica was a standby and takes writes of its own now. Make it a standby again (pg_rewind), or name another one.",
    );
}

/**
 * Compares a database with its replica once.
 *
 * @returns whether the replica has everything that the database had just before, and how long ago its last transaction was
 * @throws WrongReplica; Error if one of the two cannot be reached; it says what to do
 */
export async function compareReplica(url: string, replicaUrl: string) {
  const here = await lookedAt(url);
  const there = await lookedAt(replicaUrl);
  requireReplica(here, there);
  return { hasAll: there.position >= here.position, lastMs: there.lastMs };
}

async function lookedAt(url: string): Promise<ServerLook> {
  const connection = openConnection({ url, connections: 1 });
  try {
    return await connection.opening(() => connection.read(lookAtServer));
  } finally {
    await connection.stop();
  }
}
