import { taskError } from "../domain/errors.ts";
import type { Ids } from "../domain/ports/runtime.ts";
import type { Attempt, Lease } from "../domain/task/task.ts";
import { type AttemptChange, cancelled, failed } from "../domain/task/transition.ts";
import type { RestoredStore } from "../store/restored.ts";

const AT_ONCE = 500;
const LEASE_MS = 60_000;

/** For callers. */
const RESTORED =
  "The service was restored from a backup that was made before this task was sent to a provider; whether it was made since is not known.";

/**
 * Ends the tasks of a restored backup that no upstream is known to have. Nobody knows what the lost service did after the backup, so
 * submitting them could pay a provider twice. Nothing is charged, and their holds are released.
 *
 * @returns how many
 */
export async function endUnsent(
  { tasks, unsent }: RestoredStore,
  { ids, now }: { ids: Pick<Ids, "create">; now: number },
): Promise<number> {
  for (let ended = 0; ; ) {
    const leases = await unsent(AT_ONCE, now + LEASE_MS);
    if (leases.length === 0) return ended;
    const results = await Promise.all(leases.map((lease) => tasks.apply(lease, ending(lease, ids, now))));
    if (results.some((result) => result !== "applied"))
      throw new Error("A task of the restored database could not be ended.");
    ended += leases.length;
  }
}

function ending({ task, attempt }: Lease, ids: Pick<Ids, "create">, now: number) {
  const lost = attempt === undefined ? undefined : lostAttempt(attempt);
  if (task.cancelRequested) return cancelled(task, now, lost);
  return failed(task, now, taskError("OUTCOME_UNKNOWN", RESTORED), ids.create("cb"), lost);
}

/** A submission that may have been answered after the backup. */
function lostAttempt({ id, state }: Attempt): AttemptChange | undefined {
  const isOpen = state === "intent" || state === "ambiguous";
  return isOpen
    ? { id, state: "ambiguous", detail: "Restored from a backup; what became of it is not known." }
    : undefined;
}
