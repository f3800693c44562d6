import type { Clock, Log } from "../domain/ports/runtime.ts";

const EVERY_MS = 60_000;
const LONGEST_MS = 10 * 60_000;

export interface LeftoverDeps {
  readonly clock: Pick<Clock, "after">;
  readonly log: Log;
  /** Contents that nobody needed and that could not be removed. Code that fails to remove one adds it. */
  readonly left: Set<string>;
  /**
   * Removes a content unless something needs or holds it meanwhile. @returns whether it is gone; contents added to `left` are
   * tried later
   */
  readonly remove: (sha256: string) => Promise<boolean>;
}

/**
 * Tries again to remove contents that could not be removed, for example while a bucket was not reachable. The collector finds
 * those that are left when the process ends.
 */
export function createLeftovers({ clock, log, left, remove }: LeftoverDeps) {
  let isStopped = false;
  let cancelTimer = () => {};
  let delayMs = EVERY_MS;

  async function tick(): Promise<void> {
    let removed = 0;
    try {
      for (const sha256 of [...left]) {
        if (isStopped) return;
        left.delete(sha256);
        const isGone = await remove(sha256).catch((error: unknown) => {
          left.add(sha256);
          throw error;
        });
        if (isGone) removed += 1;
      }
      delayMs = EVERY_MS;
    } catch (error) {
      // The error would be the same for the others.
      delayMs = Math.min(delayMs * 2, LONGEST_MS);
      log.warn({ err: error as Error, left: left.size }, "files that nobody needs still cannot be removed");
    }
    if (removed > 0) log.info({ files: removed }, "files that could not be removed before are gone");
    arm();
  }

  function arm(): void {
    if (!isStopped) cancelTimer = clock.after(delayMs, () => void tick());
  }

  return {
    start: arm,
    stop(): void {
      isStopped = true;
      cancelTimer();
    },
  };
}
