import { and, desc, eq, gt } from "drizzle-orm";
import { type ConsoleSession, sessionForm } from "../../domain/access/console-session.ts";
import type { TrailNote } from "../../domain/access/trail.ts";
import type { SessionStore } from "../../domain/ports/session-store.ts";
import type { ChangeWatch } from "./change-watch.ts";
import type { Connection } from "./connection.ts";
import { createGrantCache } from "./grant-cache.ts";
import { consoleSession } from "./session-table.ts";
import { prepareTrail } from "./trail.ts";

/** Sessions that are listed. */
export const LISTED_AT_MOST = 1_000;

/** Sessions of the console, in SQLite. */
export function createSessionStore(connection: Connection, watch: ChangeWatch): SessionStore {
  const { db, orm, read, look, write } = connection;
  const forget = db.prepare(
    `delete from console_session where id in
       (select id from console_session where expires_at <= ? order by expires_at limit 100)`,
  );
  const { hash: hashOf, expiresAt: expiryOf, isLink } = consoleSession;
  const rowOf = (hash: string) => {
    const row = orm.select().from(consoleSession).where(eq(hashOf, hash)).get();
    return row && toSession(row);
  };
  const trail = prepareTrail(db);
  const cache = createGrantCache<ConsoleSession>(watch, rowOf);

  return {
    create: (session, hash) =>
      write(() => {
        forget.run(session.createdAt);
        orm
          .insert(consoleSession)
          .values({ ...session, hash })
          .run();
      }),
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
          .orderBy(desc(expiryOf))
          .limit(LISTED_AT_MOST)
          .all()
          .map(toSession),
      ),
    async end(id, act) {
      const result = await write(() => {
        const [ended] = orm.delete(consoleSession).where(eq(consoleSession.id, id)).returning().all();
        if (ended === undefined) return "not_found";
        trail(act, noteOf(toSession(ended)));
        return "ended";
      });
      cache.clear();
      return result;
    },
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
