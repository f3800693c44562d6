/** How much the log contains, from most to least. */
export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** The longest time for which a level other than the settings' may be in force: a day, in seconds. */
export const LONGEST_LOG_LEVEL_SEC = 86_400;

/** The log's level at one moment. */
export interface LevelInForce {
  readonly level: LogLevel;
  /** What the settings say. */
  readonly usual: LogLevel;
  /** When the usual level returns, in epoch milliseconds; absent while it is in force. */
  readonly until?: number | undefined;
}
