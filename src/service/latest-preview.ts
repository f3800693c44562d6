import type { TaskId } from "../domain/ids.ts";
import type { PreviewFeed } from "../domain/ports/runtime.ts";
import type { Preview } from "../domain/task/preview.ts";

/** Follows a task's previews from this call on. Only the latest is kept, so a slow reader misses earlier ones. */
export function openLatestPreview(feed: PreviewFeed, id: TaskId) {
  let latest: Preview | undefined;
  let arrived = () => {};
  const unsubscribe = feed.subscribe(id, (preview) => {
    latest = preview;
    arrived();
  });
  return {
    /** Removes the stored preview and returns it. */
    take() {
      const preview = latest;
      latest = undefined;
      return preview;
    },
    /** Resolves once there is a preview to take. A later call replaces an earlier one, which then never resolves. */
    arrival() {
      const { promise, resolve } = Promise.withResolvers<void>();
      arrived = resolve;
      if (latest !== undefined) resolve();
      return promise;
    },
    /** Ends the subscription; must be called. */
    stop() {
      unsubscribe();
      latest = undefined;
    },
  };
}
export type LatestPreview = ReturnType<typeof openLatestPreview>;
