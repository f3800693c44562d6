/** Runs at most `size` pieces of work at once, in the order they came. */
export interface Slots {
  run<T>(work: () => Promise<T>): Promise<T>;
}

export function createSlots(size: number): Slots {
  const waiting: (() => void)[] = [];
  let free = size;
  return {
    async run(work) {
      if (free > 0) free--;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      try {
        return await work();
      } finally {
        // The slot goes to the next in line, without becoming free for anybody in between.
        const next = waiting.shift();
        if (next === undefined) free++;
        else next();
      }
    },
  };
}
