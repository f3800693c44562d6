import type { RetentionStore } from "../domain/ports/retention-store.ts";
import type { Judge, StoredContents } from "../domain/ports/stored-contents.ts";

/** How long a file that nobody refers to is left alone: whoever stores one refers to it much sooner. */
export const UNUSED_MS = 60 * 60_000;

export interface CollectDeps {
  readonly contents: StoredContents;
  readonly retention: Pick<RetentionStore, "neededContents">;
  /** The system's time, in epoch milliseconds. */
  readonly now: () => number;
  /** Lets others work between two folders. @returns false when the collection is to end */
  readonly pause: () => Promise<boolean>;
}

/** What a collection found: files that nobody refers to, and those of them that are too young to go. */
export interface Collected {
  readonly files: number;
  readonly bytes: number;
  readonly young: number;
}

/**
 * Removes the files that no task has: what a crash left, or an attempt that came to nothing. Safe beside everything that stores and
 * reads files, in this process and in others, and after a crash at any point.
 *
 * @param options.isTrial changes nothing; the result tells what would go
 * @param options.onFound called with each file that goes, or would
 */
export async function collectContents(
  { contents, retention, now, pause }: CollectDeps,
  options: {
    readonly isTrial?: boolean;
    readonly onFound?: (sha256: string, bytes: number) => void;
    /** Called with each file that is too young to go. */
    readonly onYoung?: (sha256: string) => void;
    /** Looks at these alone, and not at all that lie there. */
    readonly only?: readonly string[] | undefined;
  } = {},
): Promise<Collected> {
  const judge: Judge = {
    unusedSince: now() - UNUSED_MS,
    isNeeded: async (sha256) => (await retention.neededContents([sha256])).length > 0,
  };
  const found = { files: 0, bytes: 0, young: 0 };
  const { only } = options;
  if (options.isTrial !== true && only === undefined) await contents.settle(judge);
  for await (const names of only === undefined ? contents.folders() : slices(only)) {
    const needed = new Set(await retention.neededContents(names));
    for (const sha256 of names) {
      if (needed.has(sha256)) continue;
      const file = await contents.look(sha256);
      if (file === undefined) continue;
      if (file.usedAt > judge.unusedSince) {
        found.young += 1;
        options.onYoung?.(sha256);
      } else if (options.isTrial === true || (await contents.remove(sha256, judge))) {
        found.files += 1;
        found.bytes += file.sizeBytes;
        options.onFound?.(sha256, file.sizeBytes);
      }
    }
    if (!(await pause())) break;
  }
  return found;
}

const SLICE = 256;

function* slices(all: readonly string[]): Generator<readonly string[]> {
  for (let at = 0; at < all.length; at += SLICE) yield all.slice(at, at + SLICE);
}
