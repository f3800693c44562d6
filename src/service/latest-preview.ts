import type { TaskId } from "../domain/ids.ts";
import type { PreviewFeed } from "../domain/ports/runtime.ts";
import type { Preview } from "../domain/task/preview.ts";

/** A task's previews for one reader, of which only the latest waits: one who is slow misses those before it. */
export interface LatestPreview {
  /** The one that waits, which then waits no longer. */
  take(): Preview | undefined;
  /** Resolves once there is one to take, unless it is called again before. */
  arrival(): Promise<void>;
  /** Lets go of everything; must be called. */
  stop(): void;
}

/** Looks at a task's previews from this call on. */
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
