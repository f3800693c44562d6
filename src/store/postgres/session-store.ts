import { type ConsoleSession, linkTokenName } from "../../domain/access/console-session.ts";
import type { SessionStore } from "../../domain/ports/session-store.ts";
import type { RawRow } from "../sqlite/raw-row.ts";
import { HELD_AT_MOST, LISTED_AT_MOST, noteOf, toSession } from "../sqlite/session-store.ts";
import { consoleSession } from "../sqlite/session-table.ts";
import type { ChangeWatch } from "./change-watch.ts";
import type { Connection } from "./connection.ts";
import { createGrantCache } from "./grant-cache.ts";
import { rowOf } from "./row.ts";
import { type Parameter, statement } from "./session.ts";
import { writeTrail } from "./trail.ts";

type Row = RawRow<typeof consoleSession>;

/**
 * Sessions that another process removes at the same time are left to it. A token that was made for a link has a name that follows from
 * the session's id (`linkTokenName`).
 */
const FORGET = statement<never, [now: number]>(
  `with gone as (delete from console_session where id in
     (select id from console_session where expires_at <= $1 order by expires_at limit 100 for update skip locked)
     returning id, holder, holder_name)
   delete from management_token where id in (select holder from gone where holder_name = 'console ' || right(id, 12))`,
);
const FORGET_BEYOND = statement<{ readonly id: string }, [holder: string, but: string]>(
  `delete from console_session where id in (select id from console_session where holder = $1 and id <> $2
     order by expires_at desc, id desc offset ${HELD_AT_MOST - 1} for update skip locked) returning id`,
);
const FORGET_TOKEN = statement<never, [id: string]>("delete from management_token where id = $1");
const INSERT = statement<never, Parameter[]>(
  `insert into console_session (id, hash, kind, grant_hash, holder, holder_name, is_link, created_at, expires_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
);
const OPEN = statement<Row, [linkHash: string, at: number, hash: string, expiresAt: number]>(
  `update console_session set hash = $3, expires_at = $4, is_link = 0
   where hash = $1 and is_link = 1 and expires_at > $2 returning *`,
);
const BY_HASH = statement<Row, [hash: string]>("select * from console_session where hash = $1");
const ALL = statement<Row, [now: number]>(
  `select * from console_session where expires_at > $1 order by kind = 'management_token' desc, expires_at desc limit ${LISTED_AT_MOST}`,
);
const END = statement<Row, [id: string]>("delete from console_session where id = $1 returning *");

const toRow = rowOf(consoleSession);
const toStored = (row: Row): ConsoleSession => toSession(toRow(row));

/** Sessions of the console, in PostgreSQL. */
export function createSessionStore(
  { read, write }: Pick<Connection, "read" | "write">,
  watch: Pick<ChangeWatch, "onChange" | "tell">,
): SessionStore {
  const cache = createGrantCache<ConsoleSession>(watch, "sessions", (hash) =>
    read(async (session) => {
      const row = await BY_HASH.get(session, hash);
      return row && toStored(row);
    }),
  );

  return {
    async create(created, hash) {
      const forgotten = await write(async (session) => {
        const { id, kind, grantHash, holderId, holderName, isLink, createdAt, expiresAt } = created;
        await FORGET.run(session, createdAt);
        await INSERT.run(
          session,
          ...[id, hash, kind, grantHash, holderId, holderName],
          ...[isLink ? 1 : 0, createdAt, expiresAt],
        );
        return FORGET_BEYOND.get(session, holderId, id);
      });
      if (forgotten !== undefined) await cache.changed();
    },
    async open(linkHash, { hash, at, expiresAt }) {
      const opened = await write((session) => OPEN.get(session, linkHash, at, hash, expiresAt));
      await cache.changed();
      return opened && toStored(opened);
    },
    byHash: (hash) => cache.get(hash),
    all: (now) => read(async (session) => (await ALL.all(session, now)).map(toStored)),
    async end(id, act) {
      const result = await write(async (session) => {
        const ended = await END.get(session, id);
        if (ended === undefined) return "not_found";
        const stored = toStored(ended);
        if (stored.holderName === linkTokenName(stored.id)) await FORGET_TOKEN.run(session, stored.holderId);
        await writeTrail(session, act, noteOf(stored));
        return "ended";
      });
      await cache.changed();
      return result;
    },
  };
}
