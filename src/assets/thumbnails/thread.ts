import type { Clock } from "../../domain/ports/runtime.ts";
import type { Made, Order } from "./worker.ts";

export interface ThreadOptions {
  readonly clock: Pick<Clock, "after">;
  /** How long the thread is kept without work, 10 s unless given: its end gives its memory back. */
  readonly idleMs?: number | undefined;
  /** The module that the thread runs; another one in tests. */
  readonly entry?: string | undefined;
}

const DAMAGED: Made = { kind: "none", why: "damaged" };
/** How long one picture may take. */
const PATIENCE_MS = 30_000;
/** How long native code gets to end before its thread does. */
const GRACE_MS = 1_000;

/** The thread that makes thumbnails, one at a time. It is started by the first order, and ends when there is nothing to do. */
export class Thread {
  #worker: Worker | undefined;
  #settle: ((made: Made) => void) | undefined;
  #cancelTimer = () => {};

  constructor(private readonly options: ThreadOptions) {}

  /** Makes one picture; the previous one must have ended. */
  make(order: Order): Promise<Made> {
    return new Promise((resolve) => {
      this.#cancelTimer();
      this.#settle = resolve;
      this.#cancelTimer = this.options.clock.after(PATIENCE_MS, () => this.#giveUp());
      this.#worker ??= this.#hire();
      this.#worker.ref();
      this.#worker.postMessage(order);
    });
  }

  async stop(): Promise<void> {
    this.#cancelTimer();
    const done = this.#settle;
    if (done !== undefined) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#settle = (made) => {
        done(made);
        resolve();
      };
      // Ending a thread in the middle of native code can crash the process.
      await Promise.race([promise, Bun.sleep(GRACE_MS)]);
    }
    this.#leave();
    this.#settle?.({ kind: "busy" });
  }

  #hire(): Worker {
    const hired = new Worker(this.options.entry ?? defaultEntry(), { name: "thumbnails" });
    hired.addEventListener("message", ({ data }: MessageEvent<Made>) => this.#answer(data));
    hired.addEventListener("error", (event) => {
      event.preventDefault();
      if (this.#worker === hired) this.#giveUp();
    });
    hired.addEventListener("close", () => {
      if (this.#worker === hired) this.#giveUp();
    });
    return hired;
  }

  #answer(made: Made): void {
    this.#cancelTimer();
    const done = this.#settle;
    this.#settle = undefined;
    this.#worker?.unref();
    this.#cancelTimer = this.options.clock.after(this.options.idleMs ?? 10_000, () => this.#leave());
    done?.(made);
  }

  /** The picture crashed the thread, or takes too long. The next request for it gets the same answer. */
  #giveUp(): void {
    this.#leave();
    this.#answer(DAMAGED);
  }

  #leave(): void {
    this.#cancelTimer();
    this.#worker?.terminate();
    this.#worker = undefined;
  }
}

/** In a compiled executable the worker is a separate entry point, found by its path from the project's root. */
function defaultEntry(): string {
  return Bun.isStandaloneExecutable
    ? "./src/assets/thumbnails/worker.ts"
    : new URL("./worker.ts", import.meta.url).href;
}
