import type { Seal } from "../../domain/ports/runtime.ts";
import {
  type Inspected,
  type InspectionTimes,
  lockedIn,
  MOST_COUNTED,
  NAMED,
  SIGNING_KEYS,
  type SigningKey,
} from "../sqlite/inspection.ts";
import { LIVE } from "../sqlite/task-store/task-table.ts";
import type { Connection } from "./connection.ts";
import { statement } from "./session.ts";

interface Counts {
  readonly staleLeases: number;
  readonly liveTasks: number;
  readonly overdueCallbacks: number;
  readonly failedCallbacks: number;
  readonly lastBeat: number | null;
}

const counted = (rows: string) => `(select count(*) from (${rows} limit ${MOST_COUNTED}) as counted)`;
const COUNTS = statement<Counts, [staleBefore: number, failedSince: number]>(
  `select ${counted("select 1 from task where pool = 'under_way' and due_at < $1")} as "staleLeases",
     ${counted(`select 1 from task where ${LIVE}`)} as "liveTasks",
     ${counted("select 1 from callback where pool = 'waiting' and due_at < $1")}
       + ${counted("select 1 from callback where pool = 'ready' and due_at < $1")} as "overdueCallbacks",
     ${counted("select 1 from callback where state = 'failed' and created_at >= $2")} as "failedCallbacks",
     (select at from heartbeat) as "lastBeat"`,
);
const EXPIRING = statement<{ name: string }, [now: number, before: number]>(
  `select name from api_key where revoked_at is null and expires_at > $1 and expires_at < $2 order by expires_at limit ${NAMED}`,
);
const SIGNING = statement<SigningKey>(SIGNING_KEYS);

/** What is so of a database beside its books, at one moment. */
export function inspect(
  { readAtOnce }: Pick<Connection, "readAtOnce">,
  { now, staleBefore, failedSince, expiresBefore }: InspectionTimes,
  seal: Pick<Seal, "open" | "stateOf">,
): Promise<Inspected> {
  return readAtOnce(async (session) => {
    const counts = await COUNTS.get(session, staleBefore, failedSince);
    if (counts === undefined) throw new Error("Nothing could be counted.");
    const expiring = await EXPIRING.all(session, now, expiresBefore);
    return {
      ...counts,
      lastBeat: counts.lastBeat ?? undefined,
      expiringKeys: expiring.map(({ name }) => name),
      lockedKeys: lockedIn(await SIGNING.all(session), seal),
    };
  });
}
