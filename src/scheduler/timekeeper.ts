import type { TaskId } from "../domain/ids.ts";
import type { Log, SteadyClock } from "../domain/ports/runtime.ts";
import type { LongestDelays, TimeStore } from "../domain/ports/time-store.ts";

/** How often the clocks are compared. */
const LOOK_EVERY_MS = 1_000;
/** Smaller differences are followed without a log line, because every clock drifts. */
const STEP_MS = 2_000;
/** How often a service with live tasks records that it works. */
const BEAT_EVERY_MS = 5_000;
/** After this long without a beat, the process was suspended or the store could not be written. */
const LOST_MS = BEAT_EVERY_MS + 2 * LOOK_EVERY_MS;
/** A beat that took this long to write waited for a store that could not be written. */
const WAITED_MS = 2 * LOOK_EVERY_MS;

export interface TimekeeperDeps {
  readonly time: TimeStore;
  readonly clock: SteadyClock;
  readonly log: Log;
  /** Called with the length of a step of the clock, so that times kept elsewhere are moved too. */
  readonly onStep: (byMs: number) => void;
  /** Called when the service could not work for a while, and after a step of the clock: ages of waiting work count from here. */
  readonly onBreak: () => void;
  /** Called after a step of the clock, because a wait for a due time that was read just before would end at the wrong time. */
  readonly wake: () => void;
}

/**
 * Counts only time in which the service could work towards deadlines, and limits how long anything may wait. Follows the
 * system's clock. When the clock is set, moves the stored times of live work by the same amount.
 */
export function createTimekeeper(deps: TimekeeperDeps, longest: LongestDelays) {
  const { time, clock, log } = deps;
  const hurry = () => time.hurry(clock.now(), longest);
  const beatIfDue = createBeat(deps);
  let looking: Promise<void> | undefined;

  async function look(): Promise<void> {
    if (await followClock(deps)) await hurry().finally(deps.wake);
    await beatIfDue();
  }

  /** One check at a time. A call during a check waits for it. */
  function lookOnce(): Promise<void> {
    looking ??= look().finally(() => {
      looking = undefined;
    });
    return looking;
  }

  const timer = createTimer(deps, lookOnce);
  return {
    /** Makes up for the time since an earlier process. Await it before anything looks for due work. */
    async start(): Promise<void> {
      const now = clock.now();
      const lastBeat = await time.lastBeat();
      const gapMs = lastBeat === undefined ? 0 : now - lastBeat;
      if (gapMs <= -STEP_MS) await move(deps, gapMs, deps.onStep);
      else if (gapMs > 0 && (await time.hasLiveTasks()))
        logLost(log, gapMs, await time.beat(now, now - gapMs));
      await hurry();
      timer.start();
    },
    /** Whether a task's deadline has passed, after making up for steps of the clock and for lost time. */
    async isOverdue(id: TaskId): Promise<boolean> {
      await lookOnce();
      const deadlineAt = await time.deadlineOf(id);
      return deadlineAt !== undefined && clock.now() >= deadlineAt;
    },
    stop: timer.stop,
  };
}

/** Adopts the time of the system's clock. @returns whether the clock was set since the last call */
async function followClock(deps: TimekeeperDeps): Promise<boolean> {
  const { clock, onStep, onBreak } = deps;
  const byMs = clock.behindMs();
  if (Math.abs(byMs) < STEP_MS) {
    clock.jump(byMs);
    return false;
  }
  await move(deps, byMs, (ms) => {
    clock.jump(ms);
    onStep(ms);
  });
  onBreak();
  return true;
}

/** Moves stored times. Writes requested before are moved too; writes after `shift` use the new clock. */
async function move({ time, log }: TimekeeperDeps, byMs: number, shift: (byMs: number) => void) {
  const moving = time.move(byMs);
  shift(byMs);
  try {
    const { tasks, callbacks } = await moving;
    log.warn(
      { by_ms: byMs, tasks, callbacks },
      "the system's clock was set; moved waiting work along with it",
    );
  } catch (error) {
    // Nothing was moved. The next check tries again.
    shift(-byMs);
    throw error;
  }
}

/** Returns a function that records that the service works, unless it did so recently, and makes up for the time lost since. */
function createBeat({ time, clock, log, onBreak }: TimekeeperDeps): () => Promise<void> {
  let workedAt = clock.elapsed();

  async function beat(isLost: boolean): Promise<void> {
    const at = clock.elapsed();
    const sinceMs = Math.round(at - workedAt);
    const now = clock.now();
    if (isLost) onBreak();
    if (isLost) logLost(log, sinceMs, await time.beat(now, now - sinceMs));
    else await time.beat(now);
    const hasWaited = clock.elapsed() - at >= WAITED_MS;
    if (isLost || !hasWaited) workedAt = at;
    // The store kept the write until it could be written again, so that time was lost too.
    if (hasWaited) await beat(true);
  }

  return async () => {
    const sinceMs = clock.elapsed() - workedAt;
    if (sinceMs < BEAT_EVERY_MS) return;
    if (await time.hasLiveTasks()) await beat(sinceMs >= LOST_MS);
    else workedAt = clock.elapsed();
  };
}

function logLost(log: Log, ms: number, tasks: number): void {
  if (tasks > 0) log.warn({ ms, tasks }, "could not work for a while; moved deadlines by as much");
}

/** Checks repeatedly. Reports a failure once, until a check succeeds. */
function createTimer({ clock, log }: TimekeeperDeps, look: () => Promise<void>) {
  let isRunning = false;
  let isFailing = false;
  let cancelTimer = () => {};

  async function lookAndArm(): Promise<void> {
    try {
      await look();
      isFailing = false;
    } catch (error) {
      if (!isFailing)
        log.warn({ err: error as Error }, "cannot record that the service works; deadlines wait");
      isFailing = true;
    }
    arm();
  }

  function arm(): void {
    if (isRunning) cancelTimer = clock.after(LOOK_EVERY_MS, () => void lookAndArm());
  }

  return {
    start(): void {
      isRunning = true;
      arm();
    },
    stop(): void {
      isRunning = false;
      cancelTimer();
    },
  };
}
