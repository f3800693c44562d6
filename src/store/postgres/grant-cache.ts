import type { AtHand } from "../../domain/at-hand.ts";
import { MOST_GRANTS } from "../sqlite/grant-cache.ts";
import type { ChangeWatch, Topic } from "./change-watch.ts";

export interface GrantCache<Grant> {
  get(hash: string): AtHand<Grant | undefined>;
  /** Clears the cache here and in other processes. Call it after a commit. */
  changed(): Promise<void>;
}

interface Kept<Grant> {
  readonly grant: Grant;
  readonly isAged: boolean;
}

/**
 * Keeps recently read grants. An aged grant stays available while it is read again. Does not keep hashes without a grant,
 * because anybody can invent them. Clears itself when another process reports a change.
 */
export function createGrantCache<Grant>(
  watch: Pick<ChangeWatch, "onChange" | "tell">,
  topic: Topic,
  load: (hash: string) => Promise<Grant | undefined>,
): GrantCache<Grant> {
  const kept = createKept<Grant>();
  /** Reads under way. The result of a read that was removed from this map is not kept, because it may be older than a change. */
  const reading = new Map<string, Promise<Grant | undefined>>();

  function forget(): void {
    kept.clear();
    reading.clear();
  }

  function read(hash: string): Promise<Grant | undefined> {
    const underWay = reading.get(hash);
    if (underWay !== undefined) return underWay;
    const started: Promise<Grant | undefined> = load(hash).then(
      (grant) => {
        if (left(hash, started)) kept.keep(hash, grant);
        return grant;
      },
      (error: unknown) => {
        left(hash, started);
        throw error;
      },
    );
    reading.set(hash, started);
    return started;
  }

  /** Ends a read. @returns whether its result may be kept */
  function left(hash: string, ended: Promise<Grant | undefined>): boolean {
    return reading.get(hash) === ended && reading.delete(hash);
  }

  watch.onChange(topic, { forget, age: kept.age });
  return {
    get(hash) {
      const found = kept.get(hash);
      if (found === undefined) return read(hash);
      // If it cannot be read, the old grant stays available until it ages again.
      if (found.isAged) read(hash).catch(() => {});
      return found.grant;
    },
    changed() {
      forget();
      return watch.tell(topic);
    },
  };
}

/** The recently read grants; the oldest are removed first. */
function createKept<Grant>() {
  const kept = new Map<string, Kept<Grant>>();
  return {
    get: (hash: string) => kept.get(hash),
    clear: () => kept.clear(),
    age(): void {
      for (const [hash, { grant, isAged }] of kept)
        if (isAged) kept.delete(hash);
        else kept.set(hash, { grant, isAged: true });
    },
    keep(hash: string, grant: Grant | undefined): void {
      kept.delete(hash);
      if (grant === undefined) return;
      const oldest = kept.keys().next();
      if (kept.size >= MOST_GRANTS && !oldest.done) kept.delete(oldest.value);
      kept.set(hash, { grant, isAged: false });
    },
  };
}
