/** Runs at most `count` pieces of work at once; the others wait in the order they came. */
export function createSlots(count: number) {
  let free = count;
  const waiting: (() => void)[] = [];

  async function run<T>(work: () => Promise<T>): Promise<T> {
    if (free > 0) free -= 1;
    else await new Promise<void>((resume) => waiting.push(resume));
    try {
      return await work();
    } finally {
      // A slot is handed to the next in line directly, so that nobody who came later can take it in between.
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  }

  return { run };
}

export type Slots = ReturnType<typeof createSlots>;
