import { openStoredContents } from "../assets/contents.ts";
import { type Asset, assetPath } from "../domain/media/asset.ts";
import type { Clock } from "../domain/ports/runtime.ts";
import { type Collected, collectContents } from "../service/collect-contents.ts";
import { type Verified, verifyContents } from "../service/verify-contents.ts";
import type { Store } from "../store/open.ts";
import { assetsOf, type Folder } from "./data-folder.ts";

/** An asset as an operator lists it. */
export interface ListedAsset extends Asset {
  /** Below the origin of the service. */
  readonly path: string;
}

/** The stored files of a data folder, whether or not a server runs on it. */
export function createLocalAssets({ retention }: Pick<Store, "retention">, config: Folder, clock: Clock) {
  const contents = openStoredContents(assetsOf(config));
  const pause = async () => true;
  return {
    /** Removes files that no task has, or with `isTrial` only tells which. */
    collect: (options: Parameters<typeof collectContents>[1]): Promise<Collected> =>
      collectContents({ contents, retention, now: clock.now, pause }, options),
    verify: (onFile: (files: number) => void): Promise<Verified> =>
      verifyContents({ contents, retention }, onFile),
    /** @param query.after `next` of the page before */
    async list(query: { limit: number; after?: number | undefined }) {
      const { assets, next } = await retention.assets(query);
      const listed: ListedAsset[] = assets.map((asset) => ({ ...asset, path: assetPath(asset) }));
      return { assets: listed, next };
    },
  };
}
