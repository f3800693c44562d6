/** Runs at most `limit` pieces of work at once, and delivers their results in the order of their start. */
export function createInOrder<T>(limit: number, take: (value: T) => void) {
  /** Started and not delivered, in order. */
  const open: Promise<void>[] = [];
  return {
    /** Starts a piece of work as soon as there is room, and resolves then. `work` must not reject. */
    async add(work: () => Promise<T>) {
      while (open.length >= limit) await open[0];
      const before = open.at(-1) ?? Promise.resolve();
      open.push(
        Promise.all([work(), before]).then(([value]) => {
          open.shift();
          take(value);
        }),
      );
    },
    /** Resolves when the results of all started work are delivered. */
    async done() {
      await open.at(-1);
    },
  };
}
