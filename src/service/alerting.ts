import { type Condition, noticesFor, type Told } from "../domain/alerts.ts";
import type { AlertMemory, AlertTarget } from "../domain/ports/alerting.ts";
import type { Clock, Log } from "../domain/ports/runtime.ts";

export interface AlertingDeps {
  readonly clock: Pick<Clock, "now" | "after">;
  readonly log: Pick<Log, "warn" | "info">;
  /** Asked at each look. */
  readonly targets: () => readonly AlertTarget[];
  /** Reads the present problems. @param told alerts that targets received and that are not resolved */
  readonly read: (told: readonly Told[]) => Promise<readonly Condition[]>;
  readonly memory: AlertMemory;
  /** Whether a problem is still being examined, so that the next check comes soon. */
  readonly isFinding: () => boolean;
}

/** Delay after a start, because a starting server has other work. */
const FIRST_MS = 2_000;
const EVERY_MS = 60_000;
/** Interval while a problem is being examined. */
const SOON_MS = 1_000;
/** Each target has so long. */
export const SEND_LIMIT_MS = 30_000;

/** Tells targets about new problems and about resolved ones. An alert that could not be sent is sent at the next check. */
export function createAlerting({ clock, log, targets, read, memory, isFinding }: AlertingDeps) {
  const told = new Map(Object.entries(memory.load()));
  const ending = new AbortController();
  let cancel = () => {};

  async function tell(target: AlertTarget, conditions: readonly Condition[]): Promise<boolean> {
    const next = noticesFor(target, told.get(target.id) ?? [], conditions, clock.now());
    if (next.notices.length === 0) return false;
    const limit = new AbortController();
    const stop = clock.after(SEND_LIMIT_MS, () => limit.abort());
    try {
      await target.send(next.notices, AbortSignal.any([limit.signal, ending.signal]));
      told.set(target.id, next.told);
      log.info({ to: target.name, count: next.notices.length }, "alerts were sent");
      return true;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (!ending.signal.aborted)
        log.warn(
          { to: target.name, reason, count: next.notices.length },
          "alerts could not be sent; trying again",
        );
      return false;
    } finally {
      stop();
    }
  }

  /** Checks once and sends the alerts that are due. */
  async function look(): Promise<void> {
    const now = targets();
    if (now.length === 0) return;
    const conditions = await read([...told.values()].flat());
    const changed = await Promise.all(now.map((target) => tell(target, conditions)));
    if (changed.includes(true)) memory.save(Object.fromEntries(told));
  }

  function arm(delayMs: number): void {
    cancel = clock.after(delayMs, () => {
      look()
        .catch((error: unknown) =>
          log.warn({ err: error as Error }, "what is wrong could not be read for alerts"),
        )
        .finally(() => {
          if (!ending.signal.aborted) arm(isFinding() ? SOON_MS : EVERY_MS);
        });
    });
  }

  return {
    look,
    start: () => arm(FIRST_MS),
    stop(): void {
      ending.abort();
      cancel();
    },
  };
}
