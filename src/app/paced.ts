/** Paced work runs for at most this fraction of the time. */
const ONE_PART_IN = 50;

/**
 * Returns a function that runs work whose cost grows with the data, unless it ran recently. After each run it pauses so long that
 * runs take a fiftieth of the time. So it never becomes a load itself, however often it is called.
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
