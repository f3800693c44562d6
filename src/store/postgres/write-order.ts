/**
 * Orders writes where that matters: most run side by side.
 *
 * @param unfinished writes that `settled` waits for
 */
export function createOrder(unfinished: Set<Promise<unknown>>, settled: () => Promise<unknown>) {
  /** Resolves when the last of those that hold up others has ended. */
  let barrier: Promise<void> | undefined;

  function tracked<T>(write: Promise<T>): Promise<T> {
    const ended = () => void unfinished.delete(write);
    unfinished.add(write);
    write.then(ended, ended);
    return write;
  }

  return {
    tracked,
    later: <T>(start: () => Promise<T>): Promise<T> =>
      barrier === undefined ? start() : tracked(barrier.then(start)),
    between<T>(start: () => Promise<T>): Promise<T> {
      const write = settled().then(start);
      const end = () => {
        if (barrier === ended) barrier = undefined;
      };
      const ended: Promise<void> = write.then(end, end);
      barrier = ended;
      return write;
    },
  };
}
