import { MediaError } from "../domain/ports/asset-store.ts";
import { StorageError } from "../domain/ports/task-store.ts";
import { THREAD_SECONDS } from "./limits.ts";
import type { CheckedRecording, RecordingOrder } from "./recording-worker.ts";
import type { CleanSvg } from "./svg-worker.ts";
import type { Verdict } from "./verdict.ts";

/** Cleans a drawing in a thread of its own. @throws like `readInThread` */
export function cleanSvgInThread(file: Uint8Array): Promise<CleanSvg> {
  return readInThread("svg", "A drawing", file);
}

/** Checks a recording in a thread of its own. The file may be changed by then, without moving a byte. @throws like `readInThread` */
export function checkRecordingInThread(order: RecordingOrder): Promise<CheckedRecording> {
  return readInThread("recording", "A recording", order);
}

/**
 * Has a file read in a thread of its own, which ends with it.
 *
 * @throws MediaError when it is refused; StorageError when it cannot be read or written, or the thread broke for want of memory
 */
async function readInThread<Found>(
  name: "svg" | "recording",
  what: string,
  order: RecordingOrder | Uint8Array,
): Promise<Found> {
  const worker = new Worker(entryOf(name), { name });
  const { promise, resolve, reject } = Promise.withResolvers<Verdict<Found>>();
  const broken = (why = "") => reject(new StorageError("busy", `${what} could not be read.${why}`));
  worker.addEventListener("message", ({ data }: MessageEvent<Verdict<Found>>) => resolve(data));
  worker.addEventListener("error", (event) => {
    event.preventDefault();
    broken(` ${event.message}`);
  });
  worker.addEventListener("close", () => broken());
  const timer = setTimeout(
    () => reject(new MediaError("damaged", "takes too long to read")),
    THREAD_SECONDS * 1_000,
  );
  worker.postMessage(order);
  try {
    const verdict = await promise;
    if (verdict.kind === "refused") throw new MediaError(verdict.reason, verdict.message);
    if (verdict.kind === "unstored") throw new StorageError(verdict.problem, verdict.message);
    return verdict.found;
  } finally {
    clearTimeout(timer);
    worker.terminate();
  }
}

/** In a compiled executable a worker is a separate entry point, found by its path from the project's root. */
function entryOf(name: string): string {
  return Bun.isStandaloneExecutable
    ? `./src/assets/${name}-worker.ts`
    : new URL(`./${name}-worker.ts`, import.meta.url).href;
}
