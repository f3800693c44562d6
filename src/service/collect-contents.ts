import type { RetentionStore } from "../domain/ports/retention-store.ts";
import type { Judge, StoredContents } from "../domain/ports/stored-contents.ts";

/** How long an unreferenced file is left alone. A process that stores a file refers to it much sooner. */
export const UNUSED_MS = 60 * 60_000;

export interface CollectDeps {
  readonly contents: StoredContents;
  readonly retention: Pick<RetentionStore, "neededContents">;
  /** The system's time, in epoch milliseconds. */
  readonly now: () => number;
  /** Lets other work run between two folders. @returns false when the collection must end */
  readonly pause: () => Promise<boolean>;
}

/** The result of a collection: unreferenced files, and how many of them are too young to be removed. */
export interface Collected {
  readonly files: number;
  readonly bytes: number;
  readonly young: number;
}

/**
 * Removes the files that no task has, left by a crash or by a fruitless attempt. Safe while this process and others store and
 * read files, and after a crash at any point.
 *
 * @param options.isTrial changes nothing; the result says what would be removed
 * @param options.onFound called with each file that is removed, or would be
 */
export async function collectContents(
  { contents, retention, now, pause }: CollectDeps,
  options: {
    readonly isTrial?: boolean;
    readonly onFound?: (sha256: string, bytes: number) => void;
    /** Called with each file that is too young to be removed. */
    readonly onYoung?: (sha256: string) => void;
    /** Looks only at these files, instead of at all stored files. */
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
