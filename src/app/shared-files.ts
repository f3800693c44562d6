import type { AssetStore } from "../domain/ports/asset-store.ts";
import type { RetentionStore } from "../domain/ports/retention-store.ts";
import type { StoredContents } from "../domain/ports/stored-contents.ts";
import { collectContents } from "../service/collect-contents.ts";

/** Most contents that are tried again; the collector handles other young ones. */
const MOST_LEFT = 1_000;

interface Files {
  readonly assets: AssetStore;
  readonly contents: StoredContents;
  /** Contents that are tried again every minute. */
  readonly left: Set<string>;
}

/** Has a content of several nodes tried again. */
export function noteLeft(left: Set<string>, sha256: string): void {
  if (left.size < MOST_LEFT) left.add(sha256);
}

/**
 * Files that several nodes store and remove. This node does not know what another node holds. So it removes a content as the
 * collector does: after nobody has stored it for an hour, and only if no row needs it. Younger contents are tried again until then.
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
        if (young > 0) noteLeft(left, sha256);
        return files > 0;
      },
    },
  };
}
