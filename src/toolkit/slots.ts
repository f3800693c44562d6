/** Limits how much work runs at once. */
export interface Slots {
  /** Runs work when a slot is free; the rest waits in the order it came. */
  run<T>(work: () => Promise<T>): Promise<T>;
}

export function createSlots(count: number): Slots {
  const waiting: (() => void)[] = [];
  let free = count;
  return {
    async run(work) {
      if (free > 0) free -= 1;
      else await new Promise<void>((resume) => waiting.push(resume));
      try {
        return await work();
      } finally {
        // The slot goes straight to the next in line, so that no later work can take it in between.
        const next = waiting.shift();
        if (next === undefined) free += 1;
        else next();
      }
    },
  };
}
