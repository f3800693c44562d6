import type { AssetStore } from "../domain/ports/asset-store.ts";
import type { RetentionStore } from "../domain/ports/retention-store.ts";
import type { StoredContents } from "../domain/ports/stored-contents.ts";
import { collectContents } from "../service/collect-contents.ts";

/** Contents that are tried again; what else is too young is left to the collector. */
const MOST_LEFT = 1_000;

interface Files {
  readonly assets: AssetStore;
  readonly contents: StoredContents;
  /** Contents that are tried again every minute. */
  readonly left: Set<string>;
}

/**
 * Files that several nodes store and remove. What another node holds is not known here, so a content goes as the collector removes it:
 * once nobody has stored it for an hour, and no row needs it. A younger one is tried again until then.
 */
export function sharedFiles<Opened extends Files>(
  opened: Opened,
  deps: { readonly retention: Pick<RetentionStore, "neededContents">; readonly now: () => number },
): Opened {
  const { contents, left } = opened;
  const pause = async () => true;
  return {
    ...opened,
    assets: {
      ...opened.assets,
      async removeUnheld(sha256) {
        const { files, young } = await collectContents({ ...deps, contents, pause }, { only: [sha256] });
        if (young > 0 && left.size < MOST_LEFT) left.add(sha256);
        return files > 0;
      },
    },
  };
}
