import type { Database } from "bun:sqlite";

/** Half of the second within which a change by another process must become visible. */
const CHECK_EVERY_MS = 500;

export type ChangeWatch = ReturnType<typeof createChangeWatch>;

/**
 * Empties all caches of the database when another connection has committed, which changes `data_version`. The caches clear
 * themselves after changes by this connection.
 */
export function createChangeWatch(db: Database) {
  const dataVersion = db.prepare<{ data_version: number }, []>("pragma data_version");
  const caches: (() => void)[] = [];
  let checkedAt: number | undefined;
  let version: number | undefined;

  return {
    /** Registers a cache. */
    onChange: (clear: () => void) => void caches.push(clear),
    /** Called before each look into a cache. */
    look(now: number): void {
      // A clock that was set back also means that it is time to check.
      if (checkedAt !== undefined && now >= checkedAt && now - checkedAt < CHECK_EVERY_MS) return;
      checkedAt = now;
      const current = dataVersion.get()?.data_version;
      if (current !== version) for (const clear of caches) clear();
      version = current;
    },
  };
}
