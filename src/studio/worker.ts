import { giveWay } from "../toolkit/low-priority.ts";
import type { WorkOrder, WorkResult } from "./render.ts";
import { InputInvalidError, type Rendered, type RenderJob } from "./render-job.ts";

declare const self: Worker;

/**
 * Requests come first: drawing takes whole processors. It is not more, because with 10 a video of one second was not ready after
 * a minute on a machine that other programs kept busy.
 * Applies to this thread alone, where the system has priorities of threads.
 */
const NICENESS = 5;

// Entry point of a renderer thread: one order in, one result out. Each kind of job loads its libraries at its first use.
self.onmessage = async (event: MessageEvent<WorkOrder>): Promise<void> => {
  giveWay(NICENESS);
  const result = await work(event.data);
  if (result.kind !== "done") return self.postMessage(result);
  // Copy a result out of a pooled buffer first: only a whole buffer can be transferred.
  const bytes = new Uint8Array(result.rendered.bytes);
  self.postMessage({ kind: "done", rendered: { ...result.rendered, bytes } }, [bytes.buffer]);
};

async function work(order: WorkOrder): Promise<WorkResult> {
  try {
    return { kind: "done", rendered: await render(order.job, order.cancelled) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return error instanceof InputInvalidError
      ? { kind: "input_invalid", message }
      : { kind: "broken", message };
  }
}

async function render(job: RenderJob, cancelled: Int32Array): Promise<Rendered> {
  switch (job.kind) {
    case "picture":
      return (await import("./picture.ts")).renderPicture(job);
    case "edit":
      return (await import("./edit.ts")).renderEdit(job);
    case "enlarge":
      return (await import("./enlarge.ts")).renderEnlargement(job);
    case "video":
      return (await import("./video.ts")).renderVideo(job, () => Atomics.load(cancelled, 0) !== 0);
  }
}
