import { MediaError } from "../domain/ports/asset-store.ts";
import { StorageError } from "../domain/ports/task-store.ts";
import { RECORDING_CHECK_SECONDS } from "./limits.ts";
import type { CheckedRecording, RecordingOrder, RecordingResult } from "./recording-worker.ts";

/**
 * Checks a recording in a thread of its own, which ends with it. The file may be changed by then, without moving a byte.
 *
 * @throws MediaError when it is refused; StorageError when it cannot be read or written, or the thread broke for want of memory
 */
export async function checkRecordingInThread(order: RecordingOrder): Promise<CheckedRecording> {
  const worker = new Worker(entry(), { name: "recording" });
  const { promise, resolve, reject } = Promise.withResolvers<RecordingResult>();
  const broken = (why = "") => reject(new StorageError("busy", `A recording could not be read.${why}`));
  worker.addEventListener("message", ({ data }: MessageEvent<RecordingResult>) => resolve(data));
  worker.addEventListener("error", (event) => {
    event.preventDefault();
    broken(` ${event.message}`);
  });
  worker.addEventListener("close", () => broken());
  const timer = setTimeout(
    () => reject(new MediaError("damaged", "takes too long to read")),
    RECORDING_CHECK_SECONDS * 1_000,
  );
  worker.postMessage(order);
  try {
    const result = await promise;
    if (result.kind === "refused") throw new MediaError(result.reason, result.message);
    if (result.kind === "unstored") throw new StorageError(result.problem, result.message);
    return result.recording;
  } finally {
    clearTimeout(timer);
    worker.terminate();
  }
}

/** In a compiled executable the worker is a separate entry point, found by its path from the project's root. */
function entry(): string {
  return Bun.isStandaloneExecutable
    ? "./src/assets/recording-worker.ts"
    : new URL("./recording-worker.ts", import.meta.url).href;
}
