import type { ManifestCheck } from "../domain/ports/manifests.ts";
import type { Clock } from "../domain/ports/runtime.ts";
import { createSlots } from "../toolkit/slots.ts";
import type { ManifestOrder } from "./own-manifest-worker.ts";
import { workerEntry } from "./worker-entry.ts";

/** How long a text may be checked. Those of models take a fraction of a second. */
const PATIENCE_MS = 30_000;
/** How long the thread is kept without work: whoever edits a text has it checked again and again. */
const IDLE_MS = 5_000;

/** Checks manifests one after the other in a thread. @returns what checks one; never rejects */
export function createManifestChecking({ clock }: { readonly clock: Pick<Clock, "after"> }) {
  const slots = createSlots(1);
  let worker: Worker | undefined;
  let settle = (_: ManifestCheck) => {};
  let stopTimer = () => {};

  function end(): void {
    worker?.terminate();
    worker = undefined;
  }

  function giveUp(why: string): void {
    end();
    settle({ findings: [{ line: 1, column: 1, message: `The text ${why}.` }] });
  }

  function hire(): Worker {
    const hired = new Worker(workerEntry("own-manifest-worker.ts"), { name: "manifests" });
    hired.addEventListener("message", ({ data }: MessageEvent<ManifestCheck>) => {
      if (worker === hired) settle(data);
    });
    hired.addEventListener("error", (event) => {
      event.preventDefault();
      if (worker === hired) giveUp(`cannot be checked: ${event.message}`);
    });
    hired.addEventListener("close", () => {
      if (worker === hired) giveUp("cannot be checked: the thread that read it ended");
    });
    return hired;
  }

  async function check(order: ManifestOrder): Promise<ManifestCheck> {
    stopTimer();
    const { promise, resolve } = Promise.withResolvers<ManifestCheck>();
    settle = resolve;
    stopTimer = clock.after(PATIENCE_MS, () => giveUp("takes too long to check"));
    worker ??= hire();
    worker.ref();
    worker.postMessage(order);
    const found = await promise;
    stopTimer();
    worker?.unref();
    stopTimer = clock.after(IDLE_MS, end);
    return found;
  }

  return (order: ManifestOrder): Promise<ManifestCheck> => slots.run(() => check(order));
}
