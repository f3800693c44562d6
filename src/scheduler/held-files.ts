import type { AssetStore } from "../domain/ports/asset-store.ts";
import type { Clock, Log } from "../domain/ports/runtime.ts";

const EVERY_MS = 10 * 60_000;

/**
 * Keeps collectors away from stored files that no row names yet. What a task has made waits for its row as long as the database cannot be
 * written, such as a night with a full disk, while `svc assets gc` may make room.
 */
export function createHeldFiles(deps: {
  readonly assets: Pick<AssetStore, "renewHeld">;
  readonly clock: Pick<Clock, "after">;
  readonly log: Pick<Log, "warn">;
}) {
  const { assets, clock, log } = deps;
  let cancelTimer = () => {};

  function arm(): void {
    cancelTimer = clock.after(EVERY_MS, () => {
      try {
        assets.renewHeld();
      } catch (error) {
        log.warn({ err: error as Error }, "files in use could not be marked as such");
      }
      arm();
    });
  }

  return { start: arm, stop: () => cancelTimer() };
}
