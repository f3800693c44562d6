import type { LeaseToken } from "../../domain/ids.ts";
import type { TaskStore } from "../../domain/ports/task-store.ts";
import type { Connection } from "./connection.ts";
import type { Labels } from "./labels.ts";
import type { Ledger } from "./ledger.ts";
import type { Readers } from "./replica.ts";
import { prepareAdmit, prepareAdmitAll } from "./task-store/admit.ts";
import { prepareAdvance } from "./task-store/advance.ts";
import { prepareCancel } from "./task-store/cancel.ts";
import { prepareClaim } from "./task-store/claim.ts";
import { hasten } from "./task-store/hasten.ts";
import { records } from "./task-store/idempotency.ts";
import { lostSince, settleLost } from "./task-store/lost-attempts.ts";
import { nudge } from "./task-store/nudge.ts";
import { postpone } from "./task-store/postpone.ts";
import { rescue } from "./task-store/rescue.ts";
import { createTaskReads } from "./task-store/task-reads.ts";

interface Deps {
  readonly newLeaseToken: () => LeaseToken;
  readonly labels: Labels;
  readonly ledger: Ledger;
  /** For lists of all accounts, which may be some seconds old. */
  readonly readers?: Readers | undefined;
  /** Whether nodes that are silent are gone; always unless given. */
  readonly isSteady?: (() => boolean) | undefined;
  /** The nodes that are silent by the clock of this process, too; all that are by the database's unless given. */
  readonly silent?: (() => readonly string[]) | undefined;
}

/** Tasks in PostgreSQL. */
export function createTaskStore(connection: Connection, deps: Deps): TaskStore {
  const { read, write } = connection;
  const advance = prepareAdvance(connection, deps);
  const { newLeaseToken, isSteady = () => true, silent } = deps;
  return {
    ...createTaskReads(connection, deps.readers),
    ...advance,
    admit: prepareAdmit(connection, deps),
    admitAll: prepareAdmitAll(connection, deps),
    findReplay: (key, now) => read((session) => records.find(session, key, now)),
    claim: prepareClaim(connection, { newLeaseToken, isSteady, begin: advance.begin }),
    rescue: (now) => write((session) => rescue(session, now, { isSteady: isSteady(), silent: silent?.() })),
    requestCancel: prepareCancel(connection, deps),
    nudge: (id, at) => write((session) => nudge(session, id, at)),
    postpone: (...of) => write((session) => postpone(session, ...of)),
    hasten: (...of) => write((session) => hasten(session, ...of)),
    freeIdempotency: (use, id) => write((session) => records.free(session, use, id)),
    expireIdempotency: (now, limit) => write((session) => records.expire(session, now, limit)),
    lostAttempts: (ofLanes, since) => read((session) => lostSince(session, ofLanes, since)),
    settleLost: (id, end) => write((session) => settleLost(session, id, end)),
  };
}
