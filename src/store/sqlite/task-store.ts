import type { LeaseToken } from "../../domain/ids.ts";
import type { TaskStore } from "../../domain/ports/task-store.ts";
import type { ChangeWatch } from "./change-watch.ts";
import type { Connection } from "./connection.ts";
import { prepareLabels } from "./labels.ts";
import { prepareLedger } from "./ledger.ts";
import type { Removals } from "./removals.ts";
import { prepareAdmit } from "./task-store/admit.ts";
import { prepareAdmitAll } from "./task-store/admit-all.ts";
import { type Advance, prepareAdvance } from "./task-store/advance.ts";
import { prepareCancel } from "./task-store/cancel.ts";
import { prepareChanges } from "./task-store/changes.ts";
import { prepareClaim } from "./task-store/claim.ts";
import { prepareFamily } from "./task-store/family.ts";
import { createFinished } from "./task-store/finished.ts";
import { prepareGroups } from "./task-store/groups.ts";
import { prepareHasten } from "./task-store/hasten.ts";
import { prepareIdempotency } from "./task-store/idempotency.ts";
import { prepareLaneCounts, prepareLanes, prepareOwnReady, prepareQueuedLanes } from "./task-store/lanes.ts";
import { type FindTasks, prepareFind } from "./task-store/list.ts";
import { prepareLostAttempts } from "./task-store/lost-attempts.ts";
import { prepareManagedTasks, prepareTaskSearch } from "./task-store/managed.ts";
import { prepareManagedChanges } from "./task-store/managed-changes.ts";
import { prepareNudge } from "./task-store/nudge.ts";
import { preparePostpone } from "./task-store/postpone.ts";
import { prepareReads } from "./task-store/reads.ts";
import { prepareRecentEndings } from "./task-store/recent-endings.ts";
import { prepareRescue } from "./task-store/rescue.ts";
import { prepareSearch } from "./task-store/search.ts";
import { prepareQueues, prepareStarts, type Queues } from "./task-store/start.ts";
import { prepareStory } from "./task-store/story.ts";
import { Turns } from "./task-store/turns.ts";
import { prepareTrail } from "./trail.ts";

function prepareSearches(
  connection: Connection,
  find: FindTasks,
): Pick<TaskStore, "managedTasks" | "search"> {
  const search = prepareSearch(connection);
  return {
    managedTasks: prepareManagedTasks(connection, find, search),
    search: prepareTaskSearch(connection, search),
  };
}

function prepareFindReplay(
  { look, read }: Connection,
  records: ReturnType<typeof prepareIdempotency>,
): TaskStore["findReplay"] {
  return async (key, now) => {
    // As a rule there is none, and a create that is to be stored has nothing to wait for.
    const replay = look(() => records.find(key, now));
    return replay && read(() => replay);
  };
}

/** The writes that begin and end tasks: what several of them in a row do to an account is written after the last. */
function prepareRows(
  connection: Connection,
  deps: Omit<Parameters<typeof prepareAdmit>[1], "starts" | "advance"> & {
    readonly queues: Queues;
    readonly advance: Advance;
    readonly cancel: ReturnType<typeof prepareCancel>;
  },
): Pick<TaskStore, "admit" | "admitAll" | "apply" | "requestCancel"> {
  const { ledger, advance, cancel, queues } = deps;
  const { write } = connection;
  const starts = prepareStarts(connection, queues);
  const admit = prepareAdmit(connection.db, { ...deps, starts });
  const closing = () => {
    ledger.settle();
    starts.forget();
  };
  /** Changes a task that is already stored, which may leave room, take it, or wait for its lane again. */
  const change = <T>(operation: () => T): T => {
    starts.forget();
    return operation();
  };
  return {
    admit: (admission) => write(() => admit(admission), { closing }),
    admitAll: prepareAdmitAll(connection, admit, { closing }),
    apply: (lease, transition) =>
      write(() => change(() => advance.apply(lease, transition)), {
        isOwed: true,
        ends: lease.task.id,
        closing,
      }),
    requestCancel: (id, owner, now, act) =>
      write(() => change(() => cancel(id, owner, now, act)), { ends: id, closing }),
  };
}

/** Tasks in SQLite. Each write is one operation of the connection's group commit. */
export function createTaskStore(
  connection: Connection,
  deps: { newLeaseToken: () => LeaseToken; watch: ChangeWatch; removals: Removals },
): TaskStore {
  const { db, read, readOf, look, write } = connection;
  const [records, turns] = [prepareIdempotency(connection), new Turns()];
  const [find, finished] = [prepareFind(db), createFinished(connection)];
  const reads = prepareReads(connection, { turns, find, finished });
  const [managedChanges, queues] = [prepareManagedChanges(db), prepareQueues(db, turns)];
  const searches = prepareSearches(connection, find);
  const [ledger, story] = [prepareLedger(connection), prepareStory(connection, reads)];
  const [changes, labels] = [prepareChanges(db), prepareLabels(connection)];
  const advance = prepareAdvance(db, { ledger, changes, labels, finished });
  const claim = prepareClaim(connection, { newLeaseToken: deps.newLeaseToken, queues, advance });
  const cancel = prepareCancel(db, advance, changes, reads.byId, prepareTrail(db));
  const [lanes, queuedLanes] = [prepareLanes(db), prepareQueuedLanes(db)];
  const [lost, nudge, ownReady] = [prepareLostAttempts(db), prepareNudge(db), prepareOwnReady(db)];
  const [postpone, hasten] = [preparePostpone(db), prepareHasten(db)];
  deps.watch.onChange(finished.forgetAll);
  deps.removals.onRemoved(finished.forget);
  const [recentEndings, rescue] = [prepareRecentEndings(db), prepareRescue(db)];
  return {
    ...prepareRows(connection, { ledger, records, changes, labels, advance, queues, cancel }),
    findReplay: prepareFindReplay(connection, records),
    claim: (query) => write(() => claim(query)),
    begin: (lease, intent) => write(() => advance.begin(lease, intent)),
    renew: (lease, until) => write(() => advance.renew(lease, until)),
    rescue: (now) => write(() => rescue(now)),
    nudge: (id, at) => write(() => nudge(id, at)),
    postpone: (...of) => write(() => postpone(...of)),
    hasten: (...of) => write(() => hasten(...of)),
    freeIdempotency: (use, id) => write(() => records.free(use, id)),
    expireIdempotency: (now, limit) => write(() => records.expire(now, limit)),
    settleLost: (id, end) => write(() => lost.settle(id, end)),
    lostAttempts: async (ofLanes, since) => look(() => lost.since(ofLanes, since)),
    byId: async (id) => readOf(id, () => reads.byId(id)),
    summary: async (id) => readOf(id, () => reads.summary(id)),
    requestOf: async (task) => look(() => reads.requestOf(task)),
    attempts: async (id) => read(() => reads.attempts(id)),
    attempt: async (id) => read(() => reads.attempt(id)),
    ...{ ...searches, ...prepareFamily(connection), ...prepareGroups(connection) },
    story: async (id) => read(() => story(id)),
    list: async (filter, order) => read(() => reads.list(filter, order)),
    assetById: (id) => finished.assets.get(id) ?? Promise.try(() => look(() => reads.assetById(id))),
    counts: async () => read(() => reads.counts()),
    lanes: async () => read(lanes),
    ownReady: async (...of) => look(() => ownReady(...of)),
    queuedLanes: async () => look(queuedLanes),
    laneCounts: async () => look(prepareLaneCounts(db, queues.pools)),
    recentEndings: async (since) => read(() => recentEndings(since)),
    queuePosition: async (id) => look(() => reads.queuePosition(id)),
    liveCounts: async (accountId) => read(() => reads.liveCounts(accountId)),
    changes: async (query) => read(() => changes.since(query)),
    latestChange: async (accountId) => read(() => changes.latest(accountId)),
    managedChanges: async (query) => read(() => managedChanges(query)),
    latestManagedChange: async () => read(changes.latestOfAll),
    ...{ timed: async () => look(() => reads.timed()), races: async () => look(() => reads.races()) },
    orphans: async () => look(() => reads.orphans()),
  };
}
