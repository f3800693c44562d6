import type { LeaseToken, TaskId } from "../../../domain/ids.ts";
import type { Lease } from "../../../domain/task/task.ts";
import type { Connection } from "../connection.ts";
import { prepareLease } from "./claim.ts";

/**
 * Returns a function that leases live tasks that no upstream is known to have: those that are queued, and those whose submission has
 * not been answered.
 */
export function prepareUnsent(
  connection: Connection,
  newLeaseToken: () => LeaseToken,
): (limit: number, until: number) => Lease[] {
  const { db } = connection;
  const queued = (["ready", "waiting"] as const).map((pool) =>
    db.prepare<{ id: TaskId }, [number]>(
      `select id from task indexed by task_${pool} where pool = '${pool}' limit ?`,
    ),
  );
  const underWay = db.prepare<{ id: TaskId }, []>(
    `select id from task indexed by task_under_way where pool = 'under_way' and stage in ('queued', 'submitting')`,
  );
  const lease = prepareLease(connection, newLeaseToken);
  return (limit, until) =>
    [...underWay.all(), ...queued.flatMap((query) => query.all(limit))]
      .slice(0, limit)
      .map(({ id }) => lease(id, until));
}
