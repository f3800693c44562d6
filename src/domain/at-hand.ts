/** A value that is at hand, or has to be fetched first. What runs for every request looks before it waits: a promise costs a turn. */
export type AtHand<T> = T | Promise<T>;

/** Uses a value now if it is at hand, else when it has come. */
export function whenAtHand<T, R>(given: AtHand<T>, use: (value: T) => AtHand<R>): AtHand<R> {
  return given instanceof Promise ? given.then(use) : use(given);
}
