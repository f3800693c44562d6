import type { FormText, ReadResult } from "../providers/declared/read-form.ts";
import { workerEntry } from "./worker-entry.ts";

/** Reads forms in a thread of its own, which ends when they are read. */
export interface FormReading {
  /** Call it again only after it is done. */
  read(texts: readonly FormText[]): Promise<readonly ReadResult[]>;
  stop(): void;
}

export function createFormReading(): FormReading {
  let worker: Worker | undefined;

  function stop(): void {
    worker?.terminate();
    worker = undefined;
  }

  return {
    stop,
    async read(texts) {
      const { promise, resolve } = Promise.withResolvers<readonly ReadResult[]>();
      worker = new Worker(workerEntry("own-form-worker.ts"), { name: "forms" });
      worker.addEventListener("message", ({ data }: MessageEvent<readonly ReadResult[]>) => resolve(data));
      const fail = (reason: string) =>
        resolve(
          texts.map(() => ({ findings: [{ line: 1, column: 1, message: `cannot be read: ${reason}` }] })),
        );
      worker.addEventListener("error", (event) => {
        event.preventDefault();
        fail(event.message);
      });
      // The thread ended without a message, for example for lack of memory. Nobody waits for a thread that was stopped.
      worker.addEventListener("close", () => {
        if (worker !== undefined) fail("the thread that read it ended");
      });
      worker.postMessage(texts);
      const results = await promise;
      stop();
      return results;
    },
  };
}
