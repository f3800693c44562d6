import type { Previews } from "../domain/ports/provider.ts";
import type { PreviewFeed } from "../domain/ports/runtime.ts";
import { partialImagesOf, readPreview } from "../domain/task/preview.ts";
import type { Task } from "../domain/task/task.ts";

/** The way for an adapter to show early versions of a task's outputs; undefined if its owner wants none. */
export function previewsOf(
  deps: { readonly previews: PreviewFeed },
  { id, request }: Pick<Task, "id" | "request">,
): Previews | undefined {
  const wanted = partialImagesOf(request);
  if (wanted === 0) return undefined;
  return {
    wanted,
    isWatched: () => deps.previews.isWatched(id),
    show(shown) {
      const preview = readPreview(shown, { wanted, outputs: request.n });
      if (preview !== undefined) deps.previews.publish(id, preview);
    },
  };
}
