import type { Database } from "bun:sqlite";

/** Half of the second within which a change by another process must show. */
const CHECK_EVERY_MS = 500;
const MAX_ENTRIES = 10_000;

export interface GrantCache<Grant> {
  get(hash: string, now: number): Grant | undefined;
  clear(): void;
}

/**
 * Grants seen lately, asked from `load` when they were not. Hashes without a grant are not kept: anybody can invent them.
 * `data_version` moves when another connection commits; the whole cache goes then.
 */
export function createGrantCache<Grant>(
  db: Database,
  load: (hash: string) => Grant | undefined,
): GrantCache<Grant> {
  const dataVersion = db.prepare<{ data_version: number }, []>("pragma data_version");
  const grants = new Map<string, Grant>();
  let checkedAt: number | undefined;
  let version: number | undefined;

  function dropWhenStale(now: number): void {
    // A clock that was set back counts as time to check, too.
    if (checkedAt !== undefined && now >= checkedAt && now - checkedAt < CHECK_EVERY_MS) return;
    checkedAt = now;
    const current = dataVersion.get()?.data_version;
    if (current !== version) grants.clear();
    version = current;
  }

  function keep(hash: string, grant: Grant): void {
    const oldest = grants.keys().next();
    if (grants.size >= MAX_ENTRIES && !oldest.done) grants.delete(oldest.value);
    grants.set(hash, grant);
  }

  return {
    get(hash, now) {
      dropWhenStale(now);
      const cached = grants.get(hash);
      if (cached !== undefined) return cached;
      const grant = load(hash);
      if (grant !== undefined) keep(hash, grant);
      return grant;
    },
    clear: () => grants.clear(),
  };
}
