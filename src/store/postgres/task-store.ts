import type { LeaseToken } from "../../domain/ids.ts";
import type { TaskStore } from "../../domain/ports/task-store.ts";
import type { Connection } from "./connection.ts";
import type { Labels } from "./labels.ts";
import type { Ledger } from "./ledger.ts";
import { prepareAdmit, prepareAdmitAll } from "./task-store/admit.ts";
import { records } from "./task-store/idempotency.ts";
import { createTaskReads } from "./task-store/task-reads.ts";

const notBuilt = () => Promise.reject(new Error("not built"));

/** Tasks in PostgreSQL. */
export function createTaskStore(
  connection: Connection,
  deps: { readonly newLeaseToken: () => LeaseToken; readonly labels: Labels; readonly ledger: Ledger },
): TaskStore {
  const { read, write } = connection;
  return {
    admit: prepareAdmit(connection, deps),
    admitAll: prepareAdmitAll(connection, deps),
    findReplay: (key, now) => read((session) => records.find(session, key, now)),
    claim: notBuilt,
    begin: notBuilt,
    renew: notBuilt,
    apply: notBuilt,
    rescue: notBuilt,
    requestCancel: notBuilt,
    nudge: notBuilt,
    freeIdempotency: (use, id) => write((session) => records.free(session, use, id)),
    expireIdempotency: (now, limit) => write((session) => records.expire(session, now, limit)),
    settleLost: notBuilt,
    lostAttempts: notBuilt,
    queuePosition: notBuilt,
    ...createTaskReads(connection),
  };
}
