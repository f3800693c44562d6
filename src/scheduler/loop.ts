import type { Clock, Log } from "../domain/ports/runtime.ts";

export interface Loop {
  start(): void;
  /** Asks for a pass soon. Cheap; calls during a pass lead to one more. */
  wake(): void;
  /** No pass starts after this. Resolves when the one under way has ended. */
  stop(): Promise<void>;
}

/** How long after a pass that failed (full disk, say) the next one is tried. */
const RETRY_MS = 1_000;

/**
 * Runs `pass` whenever woken, one at a time, and again at the time it returns. There is one timer and no polling.
 *
 * @param pass does what is due, and returns when there will be more by the passing of time alone
 */
export function createLoop(
  deps: { readonly clock: Clock; readonly log: Log },
  name: string,
  pass: () => Promise<number | undefined>,
): Loop {
  let running = false;
  let passing: Promise<void> | undefined;
  let wokenMeanwhile = false;
  let cancelTimer = () => {};

  async function passWhileWoken(): Promise<void> {
    let nextAt: number | undefined;
    try {
      do {
        wokenMeanwhile = false;
        nextAt = await pass();
      } while (wokenMeanwhile && running);
    } catch (error) {
      deps.log.error({ err: error as Error }, `${name} failed; trying again in a second`);
      nextAt = deps.clock.now() + RETRY_MS;
    } finally {
      passing = undefined;
    }
    cancelTimer();
    if (running && nextAt !== undefined) cancelTimer = deps.clock.after(nextAt - deps.clock.now(), wake);
  }

  function wake(): void {
    if (!running) return;
    if (passing !== undefined) wokenMeanwhile = true;
    else passing = passWhileWoken();
  }

  return {
    wake,
    start() {
      running = true;
      wake();
    },
    async stop() {
      running = false;
      cancelTimer();
      await passing;
    },
  };
}
