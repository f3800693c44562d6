/** Limits how much work runs at once. */
export interface Slots {
  /**
   * Runs work when a slot is free. The work of one owner waits in the order it came, and owners take turns, however much each has
   * waiting. Work without an owner is that of one more.
   */
  run<T>(work: () => Promise<T>, owner?: string): Promise<T>;
}

export function createSlots(count: number): Slots {
  /** What waits, by owner, in the order of their next turns. */
  const lines = new Map<string, (() => void)[]>();
  let free = count;

  function wait(owner: string): Promise<void> {
    return new Promise((resume) => {
      const line = lines.get(owner);
      if (line === undefined) lines.set(owner, [resume]);
      else line.push(resume);
    });
  }

  /** A slot goes straight to the next in line, so that no later work can take it in between. */
  function passOn(): void {
    const next = lines.entries().next().value;
    if (next === undefined) {
      free += 1;
      return;
    }
    const [owner, line] = next;
    lines.delete(owner);
    if (line.length > 1) lines.set(owner, line);
    line.shift()?.();
  }

  return {
    async run(work, owner = "") {
      if (free > 0) free -= 1;
      else await wait(owner);
      try {
        return await work();
      } finally {
        passOn();
      }
    },
  };
}
