/**
 * How long a lane goes on with tasks of one setup while tasks of others wait for it. This is a time and not a count, because an
 * engine needs 5-30 seconds to load another setup, whether its tasks take two seconds or a minute. So full rows lose at most a
 * fifth of the time to loading. With three setups, a task waits about four minutes until its own has its turn.
 */
export const LONGEST_ROW_MS = 120_000;
