import { openStoredContents } from "../assets/contents.ts";
import { openAssetStore } from "../assets/open.ts";
import type { Ownership } from "../assets/owner.ts";
import type { Objects } from "../assets/s3/objects.ts";
import { removeThumbnails } from "../assets/thumbnail-files.ts";
import { openThumbnails } from "../assets/thumbnails/thumbnails.ts";
import type { AssetConfig } from "../config/assets.ts";
import type { BucketConfig } from "../config/buckets.ts";
import type { Config } from "../config/config.ts";
import type { AssetStore } from "../domain/ports/asset-store.ts";
import type { Clock, Ids } from "../domain/ports/runtime.ts";
import type { StoredContents } from "../domain/ports/stored-contents.ts";
import type { Thumbnails } from "../domain/ports/thumbnails.ts";
import { createSystemClock } from "../runtime/clock.ts";
import { systemRandom } from "../runtime/random.ts";
import { keysOf, openClient } from "./bucket-client.ts";
import {
  bucketAdvice,
  bucketOwnership,
  copiedFrom,
  folderOwnership,
  localOwner,
  lookerOf,
  type Owning,
  ownContents,
} from "./files-owner.ts";
import { strangersFor } from "./files-without-database.ts";
import { type ClaimDeps, claimFolder, ownerFor } from "./folder-claim.ts";
import type { Releases } from "./lifecycle.ts";
import { pictureBytes } from "./memory.ts";
import { notePlaces } from "./places.ts";
import { noteLeft } from "./shared-files.ts";

interface AssetDeps extends ClaimDeps {
  readonly clock: Clock;
  readonly ids: Ids;
}

interface OpenedAssets {
  readonly assets: AssetStore;
  readonly thumbnails: Thumbnails;
  /** The contents that are stored, whatever refers to them. */
  readonly contents: StoredContents;
  /** Contents that nobody needed and that were not removed. */
  readonly left: Set<string>;
  /** Finds out who owns the bucket; absent if there is none. @returns the other owner, in words. @throws S3Error */
  readonly askBucket?: (() => Promise<string | undefined>) | undefined;
}

/**
 * Opens the file store: in a folder, and in a bucket if the settings name one. Thumbnails are always on this machine.
 *
 * @throws FilesTaken, BucketTaken where the files belong to another data folder
 */
export async function openAssets(config: Config, deps: AssetDeps, releases: Releases): Promise<OpenedAssets> {
  const { assets, ...places } = await openPlaces(config, deps, releases);
  const thumbnails = openThumbnails({ directory: config.assets.path, assets, clock: deps.clock });
  releases.push(thumbnails.stop);
  return { assets, ...places, thumbnails };
}

async function openPlaces(
  config: Config,
  deps: AssetDeps,
  releases: Releases,
): Promise<Omit<OpenedAssets, "thumbnails">> {
  const { assets } = config;
  const left = new Set<string>();
  const isShared = config.database !== undefined;
  const options = {
    directory: assets.path,
    newTemporaryName: () => deps.ids.create("asset"),
    now: deps.clock.now,
    keepsOutputMetadata: config.outputs.metadata === "keep",
    decodeBytes: pictureBytes(),
    isShared,
    onLeft: (sha256: string) => void (isShared ? noteLeft(left, sha256) : left.add(sha256)),
  };
  const folder = await claimFolder(config, deps, releases);
  notePlaces(config);
  if (assets.bucket === undefined) return { assets: openAssetStore(options), contents: folder, left };
  // Loaded late, because most services keep their files in a folder.
  const { openBucketStore } = await import("../assets/s3/open.ts");
  const { inBothPlaces } = await import("../assets/s3/contents.ts");
  const me = await ownerFor(config, deps);
  const opened = openBucketStore({
    ...options,
    ...bucketOptions(assets, assets.bucket),
    ...deps,
    random: systemRandom,
    owner: { me, advice: bucketAdvice(me), isCopied: copiedFrom(me) },
    findStrangers: strangersFor(deps.retention),
  });
  await opened.claim();
  void opened.start();
  releases.push(opened.stop);
  const contents = inBothPlaces(folder, opened.contents);
  return { assets: opened.assets, contents, left, askBucket: opened.other };
}

interface LocalDeps extends Pick<ClaimDeps, "retention"> {
  readonly clock: Clock;
  readonly folder: Owning;
  /** Throws while something else may store in the bucket. */
  readonly mayRemove: () => Promise<void>;
}

/** The contents of a data folder and of its bucket, for a command. */
export async function openLocalContents(
  assets: Pick<AssetConfig, "path" | "bucket">,
  { clock, mayRemove, folder, retention }: LocalDeps,
): Promise<StoredContents> {
  const stored = openStoredContents(assets.path);
  const findStrangers = () => strangersFor(retention)(`the folder ${assets.path}`, stored);
  let ownership: Promise<Ownership> | undefined;
  const here = ownContents(stored, {
    async require() {
      ownership ??= localOwner(folder).then((me) =>
        folderOwnership(assets.path, { clock, me, findStrangers }),
      );
      await (await ownership).require();
    },
  });
  if (assets.bucket === undefined) return here;
  const objects = await openObjects(assets.bucket, clock, folder);
  const drop = async (sha256: string) => {
    await mayRemove();
    removeThumbnails(assets.path, sha256);
    await objects.remove(sha256);
    return true;
  };
  const { inBothPlaces, openBucketContents } = await import("../assets/s3/contents.ts");
  return inBothPlaces(here, openBucketContents(objects, drop));
}

/** The objects of a bucket, for a command on the owner's data. */
export async function openObjects(bucket: BucketConfig, clock: Clock, folder: Owning): Promise<Objects> {
  const { Objects } = await import("../assets/s3/objects.ts");
  const client = await openClient(bucket, clock);
  let ownership: Promise<Ownership> | undefined;
  return new Objects(client, bucket.partBytes, async () => {
    ownership ??= localOwner(folder).then((me) => bucketOwnership(client, { clock, me }));
    await (await ownership).require();
  });
}

/** The places of files, and whose they are. */
export interface FilesOwners {
  readonly folder: Ownership;
  /** Absent if the settings name no bucket. */
  readonly bucket: Ownership | undefined;
}

/** Finds out for a command whose the files of the settings are. @param options.isTrial nothing is going to be taken */
export async function filesOwners(
  { assets, ...folder }: Owning & Pick<Config, "assets">,
  options: { readonly isTrial: boolean },
): Promise<FilesOwners> {
  const clock = createSystemClock();
  const isLooking = options.isTrial && folder.database === undefined;
  const me = isLooking ? lookerOf(folder) : await localOwner(folder);
  const client = assets.bucket && (await openClient(assets.bucket, clock));
  return {
    folder: folderOwnership(assets.path, { clock, me }),
    bucket: client && (await bucketOwnership(client, { clock, me })),
  };
}

function bucketOptions({ store, serve, cacheMb }: AssetConfig, bucket: BucketConfig) {
  const { partBytes } = bucket;
  const reached = { ...bucket, keys: () => keysOf(bucket) };
  return { store, serve, partBytes, cacheBytes: cacheMb * 1_000_000, bucket: reached };
}
