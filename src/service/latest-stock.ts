import type { Clock, Log } from "../domain/ports/runtime.ts";
import type { Stock } from "../domain/stock.ts";

export interface LatestStockDeps {
  readonly clock: Pick<Clock, "elapsed" | "after">;
  readonly log: Pick<Log, "warn">;
  /** Counts again, in another thread than the caller's. */
  readonly stock: () => Promise<Stock>;
}

/** What was counted last. */
export interface CountedStock {
  readonly stock: Stock;
  /** How long ago. */
  readonly ageMs: number;
}

const LEAST_AGE_MS = 5_000;
/** The next count waits this many times as long as the last one took, so counting uses at most a hundredth of a core. */
const REST = 100;
/** How long a caller waits for a new count. After that it gets the previous one. */
const PATIENCE_MS = 1_000;

/** Counts the stored data when somebody asks and the last count is old. @returns undefined before the first count */
export function createLatestStock({ clock, log, stock }: LatestStockDeps) {
  let latest: { readonly stock: Stock; readonly at: number } | undefined;
  let nextAt = 0;
  let counting: Promise<void> | undefined;

  async function count(): Promise<void> {
    const startedAt = clock.elapsed();
    try {
      const counted = await stock();
      latest = { stock: counted, at: clock.elapsed() };
    } catch (error) {
      log.warn({ err: error as Error }, "what is stored could not be counted");
    }
    const endedAt = clock.elapsed();
    nextAt = endedAt + Math.max(LEAST_AGE_MS, (endedAt - startedAt) * REST);
    counting = undefined;
  }

  return async (): Promise<CountedStock | undefined> => {
    if (clock.elapsed() >= nextAt) counting ??= count();
    if (counting !== undefined) await withPatience(counting, clock);
    return latest && { stock: latest.stock, ageMs: clock.elapsed() - latest.at };
  };
}

async function withPatience(work: Promise<void>, clock: Pick<Clock, "after">): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const cancel = clock.after(PATIENCE_MS, resolve);
  await Promise.race([work, promise]);
  cancel();
}
