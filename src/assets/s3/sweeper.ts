import type { Clock, Log } from "../../domain/ports/runtime.ts";
import type { Objects } from "./objects.ts";

const EVERY_MS = 15 * 60_000;
/** Sending the largest file as slowly as is waited for takes 43 minutes. An older upload of another process was left by a kill. */
const OLD_MS = 100 * 60_000;

/** Gives up uploads in parts that nobody will complete, within two hours of their beginning. */
export function createUploadSweeper(deps: {
  readonly objects: Pick<Objects, "abandonUploads">;
  readonly clock: Pick<Clock, "after">;
  readonly log: Pick<Log, "info" | "warn">;
}) {
  const { objects, clock, log } = deps;
  let cancelTimer = () => {};

  /** @returns how many */
  async function sweep(): Promise<number> {
    try {
      const count = await objects.abandonUploads(OLD_MS);
      if (count > 0) log.info({ count }, "uploads that were never completed were removed from the bucket");
      return count;
    } catch (error) {
      log.warn(
        { err: error as Error },
        "the bucket could not be searched for uploads that were never completed",
      );
      return 0;
    }
  }

  const arm = (delayMs: number) => {
    cancelTimer = clock.after(delayMs, () => void sweep().finally(() => arm(EVERY_MS)));
  };
  return { sweep, start: () => arm(0), stop: () => cancelTimer() };
}
