import type { TaskStore } from "../../../domain/ports/task-store.ts";
import { SUMMARY_COLUMNS, type SummaryRow, toSummary } from "../../sqlite/task-store/task-table.ts";
import type { Connection } from "../connection.ts";
import type { Readers } from "../replica.ts";
import { changesSince, latestChange } from "./changes.ts";
import { family } from "./family.ts";
import { groups } from "./groups.ts";
import { laneCounts, laneLoads, ownReady, queuedLanes } from "./lanes.ts";
import { orphans, races, timed } from "./left-tasks.ts";
import { prepareList } from "./list.ts";
import { managedTasks, search } from "./managed.ts";
import { latestManagedChange, managedChanges } from "./managed-changes.ts";
import { queuePosition } from "./queue-position.ts";
import { assetById, attempt, attempts, byId, counts, liveCounts, requestOf, summary } from "./reads.ts";
import { recentEndings } from "./recent-endings.ts";
import { story } from "./story.ts";

const list = prepareList<SummaryRow>(SUMMARY_COLUMNS);

/** The reads of `TaskStore` in PostgreSQL. @param readers for lists of all accounts, which may be some seconds old */
export function createTaskReads(connection: Connection, readers: Readers = connection) {
  return {
    ...createFreshReads(connection),
    ...createLists(connection),
    managedTasks: (filter) => readers.read((session) => managedTasks(session, filter)),
  } satisfies Partial<TaskStore>;
}

/** Reads that must see the last write: who asks has made it, or acts on what they tell. */
function createFreshReads({ read, readAtOnce }: Connection) {
  return {
    byId: (id) => read((session) => byId(session, id)),
    summary: (id) => read((session) => summary(session, id)),
    requestOf: (task) => read((session) => requestOf(session, task)),
    attempts: (id) => read((session) => attempts(session, id)),
    attempt: (id) => read((session) => attempt(session, id)),
    assetById: (id) => read((session) => assetById(session, id)),
    family: (...of) => readAtOnce((session) => family(session, ...of)),
    groups: (...of) => read((session) => groups(session, ...of)),
    story: (id) => readAtOnce((session) => story(session, id)),
    ownReady: (...of) => read((session) => ownReady(session, ...of)),
    queuePosition: (id) => read((session) => queuePosition(session, id)),
    queuedLanes: () => read(queuedLanes),
    laneCounts: () => read(laneCounts),
    counts: () => read(counts),
    liveCounts: (account) => read((session) => liveCounts(session, account)),
    changes: (query) => read((session) => changesSince(session, query)),
    latestChange: (account) => read((session) => latestChange(session, account)),
    managedChanges: (query) => read((session) => managedChanges(session, query)),
    latestManagedChange: () => read(latestManagedChange),
    timed: () => read(timed),
    races: () => read(races),
    orphans: () => read(orphans),
  } satisfies Partial<TaskStore>;
}

/** Lists for those who have just made a task, and figures that are read all the time. */
function createLists({ read }: Connection) {
  return {
    list: (filter, order) =>
      read(async (session) => (await list(session, { ...filter, order })).map(toSummary)),
    search: (filter) => read((session) => search(session, filter)),
    lanes: () => read(laneLoads),
    recentEndings: (since) => read((session) => recentEndings(session, since)),
  } satisfies Partial<TaskStore>;
}
