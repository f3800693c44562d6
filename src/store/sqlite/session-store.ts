import { and, desc, eq, gt } from "drizzle-orm";
import { type ConsoleSession, linkTokenName, sessionForm } from "../../domain/access/console-session.ts";
import type { TrailNote } from "../../domain/access/trail.ts";
import type { SessionStore } from "../../domain/ports/session-store.ts";
import type { ChangeWatch } from "./change-watch.ts";
import type { Connection } from "./connection.ts";
import { createGrantCache } from "./grant-cache.ts";
import { consoleSession } from "./session-table.ts";
import { prepareTrail } from "./trail.ts";

/** Sessions that are listed. */
export const LISTED_AT_MOST = 1_000;

/** Open sessions of one key or token. Another one ends the oldest, so that nobody fills the table, and the list. */
export const HELD_AT_MOST = 100;

/** Sessions of the console, in SQLite. */
export function createSessionStore(connection: Connection, watch: ChangeWatch): SessionStore {
  const { db, orm, read, look, write } = connection;
  const { forgetExpired, forgetBeyond, forgetToken } = prepareForgetting(db);
  const { hash: hashOf, expiresAt: expiryOf, isLink } = consoleSession;
  const rowOf = (hash: string) => {
    const row = orm.select().from(consoleSession).where(eq(hashOf, hash)).get();
    return row && toSession(row);
  };
  const insert = (row: typeof consoleSession.$inferInsert) => orm.insert(consoleSession).values(row).run();
  const trail = prepareTrail(db);
  const cache = createGrantCache<ConsoleSession>(watch, rowOf);

  return {
    async create(session, hash) {
      const forgotten = await write(() => {
        forgetExpired(session.createdAt);
        insert({ ...session, hash });
        return forgetBeyond(session);
      });
      if (forgotten > 0) cache.clear();
    },
    async open(linkHash, { hash, at, expiresAt }) {
      const opened = await write(() =>
        orm
          .update(consoleSession)
          .set({ hash, expiresAt, isLink: false })
          .where(and(eq(hashOf, linkHash), eq(isLink, true), gt(expiryOf, at)))
          .returning()
          .all()
          .map(toSession),
      );
      cache.clear();
      return opened[0];
    },
    byHash: (hash, now) => look(() => cache.get(hash, now)),
    all: async (now) =>
      read(() =>
        orm
          .select()
          .from(consoleSession)
          .where(gt(expiryOf, now))
          .orderBy(desc(eq(consoleSession.kind, "management_token")), desc(expiryOf))
          .limit(LISTED_AT_MOST)
          .all()
          .map(toSession),
      ),
    async end(id, act) {
      const result = await write(() => {
        const [ended] = orm.delete(consoleSession).where(eq(consoleSession.id, id)).returning().all();
        if (ended === undefined) return "not_found";
        if (ended.holderName === linkTokenName(ended.id)) forgetToken(ended.holderId);
        trail(act, noteOf(toSession(ended)));
        return "ended";
      });
      cache.clear();
      return result;
    },
  };
}

/** Sessions go with the tokens that were made for links, whose names follow from the sessions' ids (`linkTokenName`). */
function prepareForgetting(db: Connection["db"]) {
  const expired = "select id from console_session where expires_at <= ? order by expires_at limit 100";
  const tokens = db.prepare<never, [now: number]>(
    `delete from management_token where id in
       (select holder from console_session where id in (${expired}) and holder_name = 'console ' || substr(id, -12))`,
  );
  const sessions = db.prepare<never, [now: number]>(`delete from console_session where id in (${expired})`);
  const beyond = db.prepare<never, [holder: string, but: string]>(
    `delete from console_session where id in (select id from console_session where holder = ? and id <> ?
       order by expires_at desc, id desc limit -1 offset ${HELD_AT_MOST - 1})`,
  );
  const token = db.prepare<never, [id: string]>("delete from management_token where id = ?");
  return {
    forgetExpired(now: number): void {
      tokens.run(now);
      sessions.run(now);
    },
    /** Ends the oldest of the others that its key or token has. @returns how many */
    forgetBeyond: ({ holderId, id }: ConsoleSession): number => beyond.run(holderId, id).changes,
    forgetToken: (id: string) => void token.run(id),
  };
}

/** What the trail says of a session that an operator ends. */
export function noteOf(session: ConsoleSession): TrailNote {
  const { id: _, ...before } = sessionForm(session);
  return { action: "session.end", object: { kind: "session", id: session.id }, before };
}

export function toSession({ hash: _, ...session }: typeof consoleSession.$inferSelect): ConsoleSession {
  return session;
}
