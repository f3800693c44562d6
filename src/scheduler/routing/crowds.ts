/** Lets one task at a time do what concerns all that wait with it. */
export interface Crowds {
  /** Does the work, unless another task of the crowd does it now. */
  alone(crowd: string, work: () => Promise<unknown>): Promise<void>;
}

export function createCrowds(): Crowds {
  const working = new Set<string>();
  return {
    async alone(crowd, work) {
      if (working.has(crowd)) return;
      working.add(crowd);
      try {
        await work();
      } finally {
        working.delete(crowd);
      }
    },
  };
}
