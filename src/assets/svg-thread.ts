import { MediaError } from "../domain/ports/asset-store.ts";
import { StorageError } from "../domain/ports/task-store.ts";
import type { SvgResult } from "./svg-worker.ts";

/**
 * Cleans a drawing in a thread of its own, which ends with it.
 *
 * @throws MediaError when it is refused; StorageError when the thread broke, for want of memory
 */
export async function cleanSvgInThread(file: Uint8Array): Promise<Extract<SvgResult, { kind: "clean" }>> {
  const worker = new Worker(entry(), { name: "svg" });
  const { promise, resolve, reject } = Promise.withResolvers<SvgResult>();
  worker.addEventListener("message", ({ data }: MessageEvent<SvgResult>) => resolve(data));
  worker.addEventListener("error", (event) => {
    event.preventDefault();
    reject(new StorageError("busy", `A drawing could not be read: ${event.message}`));
  });
  worker.addEventListener("close", () => reject(new StorageError("busy", "A drawing could not be read.")));
  worker.postMessage(file);
  try {
    const result = await promise;
    if (result.kind === "refused") throw new MediaError(result.reason, result.message);
    return result;
  } finally {
    worker.terminate();
  }
}

/** In a compiled executable the worker is a separate entry point, found by its path from the project's root. */
function entry(): string {
  return Bun.isStandaloneExecutable
    ? "./src/assets/svg-worker.ts"
    : new URL("./svg-worker.ts", import.meta.url).href;
}
