import type { Database } from "bun:sqlite";

/** Half of the second within which a change by another process must become visible. */
const CHECK_EVERY_MS = 500;

/** Empties all caches of the database when another connection has committed. */
export interface ChangeWatch {
  /** Called before each look into a cache. */
  look(now: number): void;
  /** Registers a cache. */
  onChange(clear: () => void): void;
}

/** `data_version` moves when another connection commits. The caches clear themselves after changes of this one. */
export function createChangeWatch(db: Database): ChangeWatch {
  const dataVersion = db.prepare<{ data_version: number }, []>("pragma data_version");
  const caches: (() => void)[] = [];
  let checkedAt: number | undefined;
  let version: number | undefined;

  return {
    onChange: (clear) => void caches.push(clear),
    look(now) {
      // A clock that was set back also means that it is time to check.
      if (checkedAt !== undefined && now >= checkedAt && now - checkedAt < CHECK_EVERY_MS) return;
      checkedAt = now;
      const current = dataVersion.get()?.data_version;
      if (current !== version) for (const clear of caches) clear();
      version = current;
    },
  };
}
