import type { TaskId } from "../domain/ids.ts";
import type { PreviewFeed } from "../domain/ports/runtime.ts";
import type { Preview } from "../domain/task/preview.ts";

/** A task's previews for one reader. Only the latest is kept, so a slow reader misses earlier ones. */
export interface LatestPreview {
  /** Removes the preview that is kept and returns it. */
  take(): Preview | undefined;
  /** Resolves once there is a preview to take. A later call replaces an earlier one, which then never resolves. */
  arrival(): Promise<void>;
  /** Ends the subscription; must be called. */
  stop(): void;
}

/** Follows a task's previews from this call on. */
export function openLatestPreview(feed: PreviewFeed, id: TaskId): LatestPreview {
  let latest: Preview | undefined;
  let arrived = () => {};
  const unsubscribe = feed.subscribe(id, (preview) => {
    latest = preview;
    arrived();
  });
  return {
    take() {
      const preview = latest;
      latest = undefined;
      return preview;
    },
    arrival() {
      const { promise, resolve } = Promise.withResolvers<void>();
      arrived = resolve;
      if (latest !== undefined) resolve();
      return promise;
    },
    stop() {
      unsubscribe();
      latest = undefined;
    },
  };
}
