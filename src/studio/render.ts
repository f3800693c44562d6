import { createPool } from "./pool.ts";
import type { Rendered, RenderJob } from "./render-job.ts";

export interface Renderer {
  /**
   * Renders outside the calling thread, in the order the jobs came.
   *
   * @throws InputInvalidError (`code: "INPUT_INVALID"`) when the job's media cannot be used
   * @throws the signal's reason, at once, when it aborts; any other Error when the worker broke
   */
  render(job: RenderJob, signal: AbortSignal): Promise<Rendered>;
  /** Rejects waiting and running jobs and ends the workers. Idempotent. */
  stop(): Promise<void>;
}

/**
 * The offline renderer. Nothing is started or loaded before the first job; equal jobs give equal bytes.
 * Idle workers do not keep the process alive and end after a while, which gives their memory back.
 *
 * @param options.workers most jobs at once, 2 unless told
 * @param options.idleMs how long a worker without a job is kept, 30 s unless told
 * @param options.workerEntry another worker script, for tests
 */
export function createRenderer(
  options: { workers?: number; idleMs?: number; workerEntry?: string } = {},
): Renderer {
  const pool = createPool({
    size: options.workers ?? 2,
    idleMs: options.idleMs ?? 30_000,
    entry: options.workerEntry ?? defaultEntry(),
  });
  return { render: (job, signal) => pool.run(job, signal), stop: () => pool.stop() };
}

/** In a compiled executable the worker is a separate entry point, found by its path from the project's root. */
function defaultEntry(): string {
  return Bun.isStandaloneExecutable ? "./src/studio/worker.ts" : new URL("./worker.ts", import.meta.url).href;
}
