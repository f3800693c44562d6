/**
 * A value that is available now or must be fetched first. Code that runs for every request checks before it awaits, because a
 * promise costs a turn of the event loop.
 */
export type AtHand<T> = T | Promise<T>;

/** Uses a value at once if it is available, else when it arrives. */
export function whenAtHand<T, R>(given: AtHand<T>, use: (value: T) => AtHand<R>): AtHand<R> {
  return given instanceof Promise ? given.then(use) : use(given);
}
