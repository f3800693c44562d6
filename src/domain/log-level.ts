/** How much the log tells, the most first. */
export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** The longest that a level may be in force which the settings do not have: a day, in seconds. */
export const LONGEST_LOG_LEVEL_SEC = 86_400;

/** The log's level at one moment. */
export interface LevelInForce {
  readonly level: LogLevel;
  /** What the settings say. */
  readonly usual: LogLevel;
  /** When the usual one comes back, in epoch milliseconds; absent while it is in force. */
  readonly until?: number | undefined;
}
