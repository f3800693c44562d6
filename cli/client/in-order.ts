export interface InOrder<T> {
  /** Begins a piece of work as soon as there is room for it, and resolves then. `work` must not reject. */
  add(work: () => Promise<T>): Promise<void>;
  /** Resolves when all that was begun is handed over. */
  done(): Promise<void>;
}

/** Works side by side on at most `limit` things, and hands over what comes of them in the order they were begun. */
export function createInOrder<T>(limit: number, take: (value: T) => void): InOrder<T> {
  /** Begun and not handed over, in order. */
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
