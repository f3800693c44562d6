import type { Preview } from "../../domain/task/preview.ts";
import type { LatestPreview } from "../../service/latest-preview.ts";

/** Passes on a task's previews one at a time until `task` resolves; drops those not passed on by then. */
export async function untilDone<T>(
  task: Promise<T>,
  previews: LatestPreview,
  show: (preview: Preview) => Promise<void>,
): Promise<T> {
  let isDone = false;
  const done = task.finally(() => {
    isDone = true;
  });
  for (;;) {
    await Promise.race([done, previews.arrival()]);
    if (isDone) return task;
    const preview = previews.take();
    if (preview !== undefined) await show(preview);
  }
}
