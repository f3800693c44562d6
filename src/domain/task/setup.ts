/**
 * How long a lane goes on with tasks of one setup while tasks of others wait for it. A time and not a count: to load another one takes an
 * engine 5-30 seconds, whether its tasks take two seconds or a minute. So full rows lose
 * at most a fifth of the time to loading, and among three setups a task waits four minutes or little more for the turn of its own.
 */
export const LONGEST_ROW_MS = 120_000;
