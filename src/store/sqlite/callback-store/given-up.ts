import type { Database } from "bun:sqlite";

/** @param from with the index that finds the failed ones, where the database has to be told */
export const givenUpSince = (from: string, among: string, since: string): string =>
  `select count(*) as count
   from (select id from ${from} where state = 'failed' order by created_at desc, id desc limit ${among}) as failed
   where exists (select 1 from callback_attempt
     where callback_id = failed.id and is_redelivery = 0 and ended_at >= ${since})`;

/** The body of `CallbackStore.givenUp`. */
export function prepareGivenUp(db: Database): (since: number, among: number) => number {
  const counted = db.prepare<{ count: number }, [among: number, since: number]>(
    givenUpSince("callback indexed by callback_failed", "?1", "?2"),
  );
  return (since, among) => counted.get(among, since)?.count ?? 0;
}
