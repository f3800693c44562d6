import type { Clock, Log } from "../domain/ports/runtime.ts";

/** How long to wait after a pass that failed, for example on a full disk. */
const RETRY_MS = 1_000;

/**
 * Runs `pass` whenever it is woken, one at a time, and again at the time that `pass` returns. There is one timer.
 *
 * @param pass does the due work, and returns the next time at which something is due
 */
export function createLoop(
  deps: { readonly clock: Clock; readonly log: Log },
  name: string,
  pass: () => Promise<number | undefined>,
) {
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
    /** Requests a pass. Cheap; calls during a pass lead to one more. */
    wake,
    isRunning: () => running,
    start(): void {
      running = true;
      wake();
    },
    /** Starts no more passes. Resolves when the current one has ended. */
    async stop(): Promise<void> {
      running = false;
      cancelTimer();
      await passing;
    },
  };
}
