export interface InOrder<T> {
  /** Starts a piece of work as soon as there is room, and resolves then. `work` must not reject. */
  add(work: () => Promise<T>): Promise<void>;
  /** Resolves when the results of all started work are delivered. */
  done(): Promise<void>;
}

/** Runs at most `limit` pieces of work at once, and delivers their results in the order of their start. */
export function createInOrder<T>(limit: number, take: (value: T) => void): InOrder<T> {
  /** Started and not delivered, in order. */
  const open: Promise<void>[] = [];
  return {
    async add(work) {
      while (open.length >= limit) await open[0];
      const before = open.at(-1) ?? Promise.resolve();
      open.push(
        Promise.all([work(), before]).then(([value]) => {
          open.shift();
          take(value);
        }),
      );
    },
    async done() {
      await open.at(-1);
    },
  };
}
