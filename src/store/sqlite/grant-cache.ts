import type { ChangeWatch } from "./change-watch.ts";

/** Grants that stay in memory. */
export const MOST_GRANTS = 10_000;

export interface GrantCache<Grant> {
  get(hash: string, now: number): Grant | undefined;
  clear(): void;
}

/**
 * Keeps the grants that were read lately. Does not keep hashes without a grant: anybody can invent them. Forgets everything
 * when another connection commits.
 */
export function createGrantCache<Grant>(
  watch: ChangeWatch,
  load: (hash: string) => Grant | undefined,
): GrantCache<Grant> {
  const grants = new Map<string, Grant>();
  watch.onChange(() => grants.clear());

  function keep(hash: string, grant: Grant): void {
    const oldest = grants.keys().next();
    if (grants.size >= MOST_GRANTS && !oldest.done) grants.delete(oldest.value);
    grants.set(hash, grant);
  }

  return {
    get(hash, now) {
      watch.look(now);
      const cached = grants.get(hash);
      if (cached !== undefined) return cached;
      const grant = load(hash);
      if (grant !== undefined) keep(hash, grant);
      return grant;
    },
    clear: () => grants.clear(),
  };
}
