/** What is paced runs for at most one part in so many of the time. */
const ONE_PART_IN = 50;

/**
 * Returns a function that runs something which costs more the more there is, unless it ran lately: after each run it rests for as long
 * as makes that run a fiftieth of the time. However often it is called, it never becomes the load itself.
 */
export function paced(run: () => Promise<void>, elapsedMs: () => number): () => Promise<void> {
  let restsUntil = Number.NEGATIVE_INFINITY;
  return async () => {
    const startedAt = elapsedMs();
    if (startedAt < restsUntil) return;
    try {
      await run();
    } finally {
      const endedAt = elapsedMs();
      restsUntil = endedAt + (ONE_PART_IN - 1) * (endedAt - startedAt);
    }
  };
}
