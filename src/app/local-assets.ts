import type { Config } from "../config/config.ts";
import type { AccountId } from "../domain/ids.ts";
import { type Asset, assetPath } from "../domain/media/asset.ts";
import type { Clock } from "../domain/ports/runtime.ts";
import { type Collected, collectContents } from "../service/collect-contents.ts";
import { purgeForm } from "../service/purge-account.ts";
import { type Verified, verifyContents } from "../service/verify-contents.ts";
import type { Store } from "../store/open.ts";
import { openLocalContents } from "./assets.ts";
import { assetsOf, DataDirectoryBusy, type Folder, lockDataDirectory } from "./data-folder.ts";
import { purgeLocal } from "./local-purge.ts";
import { requireNoNodes } from "./shared-database.ts";

/** An asset as an operator lists it. */
export interface ListedAsset extends Asset {
  /** Below the origin of the service. */
  readonly path: string;
}

/** The stored files of a data folder, whether or not a server runs on it. */
export function createLocalAssets(
  store: Pick<Store, "tasks" | "retention" | "uploads">,
  config: Folder & Partial<Pick<Config, "assets" | "database">>,
  clock: Clock,
) {
  const { retention, uploads } = store;
  /** Held until the command ends, from the first object that is removed. */
  let release: (() => void) | undefined;
  const mayRemove = async () => {
    release ??= await lockForBucket(config);
  };
  const places = config.assets ?? { path: assetsOf(config) };
  const open = () => openLocalContents(places, { clock, mayRemove, folder: config, retention });
  const pause = async () => true;
  return {
    /** Removes files that no task has, or with `isTrial` only tells which. */
    async collect(options: Parameters<typeof collectContents>[1]): Promise<Collected> {
      try {
        return await collectContents({ contents: await open(), retention, now: clock.now, pause }, options);
      } finally {
        release?.();
      }
    },
    verify: async (onFile: (files: number) => void): Promise<Verified> =>
      verifyContents({ contents: await open(), retention, uploads }, onFile),
    /** Removes everything of a suspended account but its money. */
    purge: async (id: AccountId, onTask: (count: number) => void) =>
      purgeForm(id, await purgeLocal(store, { config, places, clock }, id, onTask)),
    /** @param query.after `next` of the page before */
    async list(query: { limit: number; after?: number | undefined }) {
      const { assets, next } = await retention.assets(query);
      const listed: ListedAsset[] = assets.map((asset) => ({ ...asset, path: assetPath(asset) }));
      return { assets: listed, next };
    },
  };
}

/** Only the server knows what it is about to store in a bucket; nothing else shows that an object will be used. */
async function lockForBucket(config: Folder & Partial<Pick<Config, "database">>): Promise<() => void> {
  if (config.database !== undefined) await requireNoNodes(config.database.reveal());
  try {
    return lockDataDirectory(config);
  } catch (error) {
    if (!(error instanceof DataDirectoryBusy)) throw error;
    const what = `A server runs on ${config.dataDir}, and removes what nobody needs from its bucket by itself`;
    throw new DataDirectoryBusy(`${what}. Stop it to do it now.`);
  }
}
