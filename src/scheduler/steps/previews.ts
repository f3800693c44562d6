import type { Previews } from "../../domain/ports/provider.ts";
import { partialImagesOf, readPreview } from "../../domain/task/preview.ts";
import type { Step } from "../step.ts";

/** Lets an adapter show early versions of the task's outputs; undefined if its owner wants none. */
export function previewsOf({ task: { id, request }, deps: { previews } }: Step): Previews | undefined {
  const wanted = partialImagesOf(request);
  if (wanted === 0) return undefined;
  return {
    wanted,
    isWatched: () => previews.isWatched(id),
    show(shown) {
      const preview = readPreview(shown, { wanted, outputs: request.n });
      if (preview !== undefined) previews.publish(id, preview);
    },
  };
}
