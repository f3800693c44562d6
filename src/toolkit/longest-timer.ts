/** The longest delay that a timer takes, in milliseconds: 24 days. A timer with a longer one fires at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;
