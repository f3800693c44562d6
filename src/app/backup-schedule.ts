import type { BackupState } from "../domain/backup-state.ts";
import type { Clock, Log } from "../domain/ports/runtime.ts";
import type { BackupResult } from "./backup-worker.ts";

/** Delay after a start, so that a service that is restarted again and again does not make a backup each time. */
const FIRST_MS = 60_000;
/** Delay after a failed backup. */
const AGAIN_MS = 10 * 60_000;
/** Checks at least this often, because the clock may have been set and the folder may have changed. */
const LOOK_MS = 60 * 60_000;
const FAILED =
  "the data folder could not be backed up; trying again. See that backup.to is there, may be written to and has room, or run svc db backup by hand";
const MISSING = "backed up; files that the database names are not there: svc assets verify";

export interface BackupScheduleDeps {
  readonly clock: Pick<Clock, "now" | "elapsed" | "after">;
  readonly log: Log;
  /** When the newest existing backup was made; undefined if there is none. An earlier process may have made it. */
  readonly newestAt: () => Promise<number | undefined>;
  readonly make: (atMs: number) => Promise<BackupResult>;
}

/** Makes a backup whenever the newest one is older than `everyMs`, whichever process made it. */
export function createBackupSchedule(deps: BackupScheduleDeps, everyMs: number) {
  const { clock, log } = deps;
  const [firstMs, againMs] = [Math.min(FIRST_MS, everyMs / 10), Math.min(AGAIN_MS, everyMs / 10)];
  let isStopped = false;
  let cancelTimer = () => {};
  let state: BackupState = {};
  /** When the last one of this process was made, on the clock that never jumps. */
  let madeAt = Number.NEGATIVE_INFINITY;
  const looking = createTiming(clock);

  function arm(delayMs: number): void {
    if (isStopped) return;
    cancelTimer = clock.after(Math.min(delayMs, LOOK_MS), () => void looking.time(look));
  }

  async function look(): Promise<void> {
    try {
      const lastAt = await deps.newestAt();
      state = { ...state, lastAt };
      const ageMs = lastAt === undefined ? everyMs : ageOf(clock.now() - lastAt, clock.elapsed() - madeAt);
      if (ageMs < everyMs) return arm(everyMs - ageMs);
      await back();
    } catch (error) {
      fail(error instanceof Error ? error.message : String(error));
    }
  }

  async function back(): Promise<void> {
    const [at, began] = [clock.now(), clock.elapsed()];
    const result = await deps.make(at);
    if (isStopped) return;
    if (result.kind === "failed") return fail(result.message);
    const { kind: _, missing, copiedBytes, ...fields } = result;
    state = { lastAt: at };
    madeAt = began;
    const told = { ...fields, copied_bytes: copiedBytes, missing, ms: Math.round(clock.elapsed() - began) };
    if (missing > 0) log.warn(told, MISSING);
    else log.info(told, "backed up");
    arm(everyMs);
  }

  function fail(reason: string): void {
    if (isStopped) return;
    const since = state.failing?.since ?? clock.now();
    state = { ...state, failing: { since, reason } };
    log.error({ reason, last_backup: dateOf(state) }, FAILED);
    arm(againMs);
  }

  return {
    state: () => (looking.tookMs() > everyMs ? unended(state, clock.now() - looking.tookMs()) : state),
    start: () => arm(firstMs),
    stop(): void {
      isStopped = true;
      cancelTimer();
    },
  };
}

const dateOf = ({ lastAt }: BackupState) => (lastAt === undefined ? "none" : new Date(lastAt).toISOString());

/** How long some work has taken so far. */
function createTiming({ elapsed }: Pick<Clock, "elapsed">) {
  let from: number | undefined;
  return {
    async time(work: () => Promise<void>): Promise<void> {
      from = elapsed();
      await work();
      from = undefined;
    },
    tookMs: () => (from === undefined ? 0 : elapsed() - from),
  };
}

/** A disk of the network that does not answer lets no backup end, and none fail. */
function unended(state: BackupState, since: number): BackupState {
  return { failing: { since, reason: "The one that was begun then has not ended." }, ...state };
}

/**
 * A backup with a future date shows that the clock was set back. It does not postpone the next one, nor have one made at each look.
 * @param sinceMs how long ago this process made one; infinite if it did not
 */
function ageOf(byDateMs: number, sinceMs: number): number {
  return byDateMs < 0 ? Math.min(-byDateMs, sinceMs) : byDateMs;
}
