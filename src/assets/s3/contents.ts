import { createHash } from "node:crypto";
import type { StoredContents } from "../../domain/ports/stored-contents.ts";
import { inBucket, isAbsence } from "./errors.ts";
import type { Objects } from "./objects.ts";

/**
 * The contents of a bucket. An object cannot be set aside, so that `drop` decides in one step with everything that stores: in a server
 * by what it holds, elsewhere because no server runs.
 *
 * @param drop removes a content that nobody holds. @returns whether it is gone
 */
export function openBucketContents(
  objects: Objects,
  drop: (sha256: string) => Promise<boolean>,
): StoredContents {
  const head = (sha256: string) => inBucket(() => objects.head(sha256));
  return {
    async *folders() {
      for (let after: string | undefined; ; ) {
        const page = await inBucket(() => objects.list(after));
        yield page.objects.map(({ sha256 }) => sha256);
        after = page.objects.at(-1)?.sha256;
        if (page.isLast || after === undefined) return;
      }
    },
    async look(sha256) {
      const found = await head(sha256);
      return found && { sizeBytes: found.sizeBytes, usedAt: found.storedAt };
    },
    rehash: (sha256) => inBucket(() => hashIn(objects, sha256)),
    async remove(sha256, { unusedSince, isNeeded }) {
      const found = await head(sha256);
      if (found === undefined || found.storedAt > unusedSince) return false;
      // Nothing may come between this answer and the removal.
      return !(await isNeeded(sha256)) && drop(sha256);
    },
    settle: async () => 0,
  };
}

/** The SHA-256 of what an object holds; undefined where there is none. @throws S3Error */
export async function hashIn(objects: Objects, sha256: string): Promise<string | undefined> {
  const hash = createHash("sha256");
  try {
    for await (const piece of objects.read(sha256)) hash.update(piece);
    return hash.digest("hex");
  } catch (error) {
    if (isAbsence(error)) return undefined;
    throw error;
  }
}

/** Contents of which some are in one place, and some in the other. */
export function inBothPlaces(one: StoredContents, other: StoredContents): StoredContents {
  return {
    async *folders() {
      yield* one.folders();
      yield* other.folders();
    },
    look: async (sha256) => (await one.look(sha256)) ?? other.look(sha256),
    async rehash(sha256) {
      const found = await one.rehash(sha256);
      return found === sha256 ? found : ((await other.rehash(sha256)) ?? found);
    },
    async remove(sha256, judge) {
      const isGone = await one.remove(sha256, judge);
      return (await other.remove(sha256, judge)) || isGone;
    },
    settle: async (judge) => (await one.settle(judge)) + (await other.settle(judge)),
  };
}
