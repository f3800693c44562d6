import type { LevelInForce, LogLevel } from "../domain/log-level.ts";
import type { Clock, LeveledLog } from "../domain/ports/runtime.ts";

export interface LogLevelDeps {
  readonly clock: Pick<Clock, "now" | "after">;
  readonly log: LeveledLog;
  /** The level of the settings; the log's present level unless given. */
  readonly usual?: (() => LogLevel) | undefined;
}

/** Changes the level of the log for a while. A restart ends the change. */
export interface ManageLogLevel {
  read(): LevelInForce;
  /** @param forMs after which the usual level returns by itself; ignored if `level` is the usual one */
  set(level: LogLevel, forMs: number): LevelInForce;
}

/** Create it once, while the log has its usual level. */
export function createManageLogLevel({ clock, log, ...deps }: LogLevelDeps): ManageLogLevel {
  const first = log.level();
  const usual = deps.usual ?? (() => first);
  let until: number | undefined;
  let cancel = () => {};
  /** New settings may have ended the change. */
  const isUsual = () => log.level() === usual();
  const read = () => ({ level: log.level(), usual: usual(), until: isUsual() ? undefined : until });

  function change(level: LogLevel, end: number | undefined): void {
    cancel();
    const before = log.level();
    until = end;
    // Written whatever both levels are.
    log.setLevel("info");
    log.info({ now: level, before, until: end }, "the level of the log is changed");
    log.setLevel(level);
  }

  return {
    read,
    set(level, forMs) {
      const isOver = level === usual();
      change(level, isOver ? undefined : clock.now() + forMs);
      cancel = isOver ? () => {} : clock.after(forMs, () => isUsual() || change(usual(), undefined));
      return read();
    },
  };
}
