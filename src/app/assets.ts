import { openStoredContents } from "../assets/contents.ts";
import { openAssetStore } from "../assets/open.ts";
import type { S3Client } from "../assets/s3/client.ts";
import type { Objects } from "../assets/s3/objects.ts";
import type { Owner, Ownership } from "../assets/s3/owner.ts";
import { removeThumbnails } from "../assets/thumbnail-files.ts";
import { openThumbnails } from "../assets/thumbnails/thumbnails.ts";
import type { AssetConfig } from "../config/assets.ts";
import type { BucketConfig } from "../config/buckets.ts";
import type { Config } from "../config/config.ts";
import type { AssetStore } from "../domain/ports/asset-store.ts";
import type { Clock, Ids, Log } from "../domain/ports/runtime.ts";
import type { StoredContents } from "../domain/ports/stored-contents.ts";
import type { Thumbnails } from "../domain/ports/thumbnails.ts";
import { createSystemClock } from "../runtime/clock.ts";
import { systemRandom } from "../runtime/random.ts";
import { ASSETS_TAKEN, lookerOf, ownerOf } from "./bucket-owner.ts";
import type { Folder } from "./data-folder.ts";
import type { Releases } from "./lifecycle.ts";
import { notePlaces } from "./places.ts";
import { sharedOwnerOf } from "./shared-database.ts";

interface AssetDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /** The owner of the files in a bucket; the data folder unless given. */
  readonly owner?: (() => Promise<Owner>) | undefined;
}

interface OpenedAssets {
  readonly assets: AssetStore;
  readonly thumbnails: Thumbnails;
  /** The contents that are stored, whatever refers to them. */
  readonly contents: StoredContents;
  /** Contents that nobody needed and that could not be removed. */
  readonly left: Set<string>;
  /** Finds out who owns the bucket; absent if there is none. @returns the other owner, in words. @throws S3Error */
  readonly askBucket?: (() => Promise<string | undefined>) | undefined;
}

/** Opens the file store: in a folder, and in a bucket if the settings name one. Thumbnails are always on this machine. */
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
  const options = {
    directory: assets.path,
    newTemporaryName: () => deps.ids.create("asset"),
    now: deps.clock.now,
    keepsOutputMetadata: config.outputs.metadata === "keep",
    onLeft: (sha256: string) => void left.add(sha256),
  };
  const folder = openStoredContents(assets.path);
  notePlaces(config);
  if (assets.bucket === undefined) return { assets: openAssetStore(options), contents: folder, left };
  // Loaded late, because most services keep their files in a folder.
  const { openBucketStore } = await import("../assets/s3/open.ts");
  const { inBothPlaces, openBucketContents } = await import("../assets/s3/contents.ts");
  const opened = openBucketStore({
    ...options,
    ...bucketOptions(assets, assets.bucket),
    ...deps,
    random: systemRandom,
    owner: { me: (await deps.owner?.()) ?? ownerOf(config), advice: ASSETS_TAKEN },
  });
  await opened.claim();
  void opened.start();
  releases.push(opened.stop);
  const inBucket = openBucketContents(opened.objects, opened.assets.removeUnheld);
  return { assets: opened.assets, contents: inBothPlaces(folder, inBucket), left, askBucket: opened.other };
}

/**
 * The contents of a data folder and of its bucket, for a command.
 *
 * @param mayRemove whether nothing else stores in the bucket while the command runs
 */
export async function openLocalContents(
  assets: Pick<AssetConfig, "path" | "bucket">,
  { clock, mayRemove, folder }: { clock: Clock; mayRemove: () => Promise<void>; folder: Owning },
): Promise<StoredContents> {
  const here = openStoredContents(assets.path);
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

/** The owner of files in a bucket: a data folder, or the database that its settings name. */
type Owning = Folder & Partial<Pick<Config, "database">>;

async function localOwner(folder: Owning): Promise<Owner> {
  return folder.database === undefined
    ? ownerOf(folder)
    : await sharedOwnerOf(folder.database.reveal(), { isUnfinished: false });
}

/** The objects of a bucket, for a command on the owner's data. */
export async function openObjects(bucket: BucketConfig, clock: Clock, folder: Owning): Promise<Objects> {
  const { Objects } = await import("../assets/s3/objects.ts");
  const client = await openClient(bucket, clock);
  let ownership: Promise<Ownership> | undefined;
  return new Objects(client, bucket.partBytes, async () => {
    ownership ??= localOwner(folder).then((me) => ownershipOf(client, clock, me));
    await (await ownership).require();
  });
}

/**
 * Assigns the bucket of the files to a data folder. @returns the previous owner, in words; undefined if there was none, or this
 * data folder
 */
export async function claimBucket(
  { assets, ...folder }: Owning & Pick<Config, "assets">,
  options: { readonly isTrial: boolean },
): Promise<string | undefined> {
  if (assets.bucket === undefined)
    throw new Error("The settings name no bucket: give assets.bucket and what belongs to it.");
  const clock = createSystemClock();
  const client = await openClient(assets.bucket, clock);
  const isLooking = options.isTrial && folder.database === undefined;
  const me = isLooking ? lookerOf(folder) : await localOwner(folder);
  const ownership = await ownershipOf(client, clock, me);
  return options.isTrial ? await ownership.other() : await ownership.take();
}

async function ownershipOf(client: S3Client, clock: Clock, me: Owner): Promise<Ownership> {
  const { Ownership } = await import("../assets/s3/owner.ts");
  return new Ownership({ client, clock, me, advice: ASSETS_TAKEN });
}

/** A client of a bucket, for a command. */
export async function openClient(
  bucket: BucketConfig & { readonly settings?: string },
  clock: Clock,
): Promise<S3Client> {
  const { S3Client } = await import("../assets/s3/client.ts");
  return new S3Client({ bucket: { ...bucket, keys: () => keysOf(bucket) }, clock, random: systemRandom });
}

function bucketOptions({ store, serve, cacheMb }: AssetConfig, bucket: BucketConfig) {
  const { partBytes } = bucket;
  const reached = { ...bucket, keys: () => keysOf(bucket) };
  return { store, serve, partBytes, cacheBytes: cacheMb * 1_000_000, bucket: reached };
}

/** @throws Error that names the missing variables */
export function keysOf({ keys, keyEnv }: Pick<BucketConfig, "keys" | "keyEnv">) {
  if (keys === undefined) throw new Error(`The keys of the bucket are not there: set ${keyEnv.join(", ")}.`);
  const { accessKeyId, secretAccessKey, sessionToken } = keys;
  return {
    accessKeyId: accessKeyId.reveal(),
    secretAccessKey: secretAccessKey.reveal(),
    sessionToken: sessionToken?.reveal(),
  };
}
