import type { Config } from "../../config/config.ts";
import { reasonOf } from "../../toolkit/system-error.ts";
import { error, type Finding, ok, warn } from "./finding.ts";

/** Looks at the copy of the database that answers lists and reports, if there is one. Changes nothing. */
export async function replicaChecks({
  database,
  databaseReplica,
}: Pick<Config, "database" | "databaseReplica">): Promise<readonly Finding[]> {
  if (database === undefined || databaseReplica === undefined) return [];
  const { MOST_LAG_MS } = await import("../../store/postgres/replica.ts");
  const { compareReplica, WrongReplica } = await import("../../store/postgres/replica-look.ts");
  try {
    const { hasAll, lastMs } = await compareReplica(database.reveal(), databaseReplica.reveal());
    if (hasAll) return [ok("replica", "The replica has all that the database has.")];
    const text = `The replica's last transaction was ${Math.round((lastMs ?? 0) / 1_000)} seconds ago, and the database has later ones.`;
    if (lastMs !== null && lastMs <= MOST_LAG_MS) return [ok("replica", text)];
    return [
      warn(
        "replica",
        `${text} Lists and reports are read from the database.`,
        "See pg_stat_wal_receiver at the replica, and pg_stat_replication at the database, for why it does not follow.",
      ),
    ];
  } catch (cause) {
    const text = `${reasonOf(cause).replace(/\.$/, "")}.`;
    return cause instanceof WrongReplica
      ? [
          error(
            "replica",
            text,
            "Write another URL in SVC_DATABASE_REPLICA, or none: no node starts with this one.",
          ),
        ]
      : [
          warn(
            "replica",
            `${text} Lists and reports are read from the database.`,
            "Start the replica, or write its right address, user and password in SVC_DATABASE_REPLICA.",
          ),
        ];
  }
}
