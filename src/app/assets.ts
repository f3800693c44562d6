import { openStoredContents } from "../assets/contents.ts";
import { openAssetStore } from "../assets/open.ts";
import type { Objects } from "../assets/s3/objects.ts";
import type { AssetConfig, BucketConfig } from "../config/assets.ts";
import type { Config } from "../config/config.ts";
import type { AssetStore } from "../domain/ports/asset-store.ts";
import type { Clock, Ids, Log } from "../domain/ports/runtime.ts";
import type { StoredContents } from "../domain/ports/stored-contents.ts";
import { systemRandom } from "../runtime/random.ts";
import type { Releases } from "./lifecycle.ts";
import { notePlaces } from "./places.ts";

interface AssetDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
}

interface OpenedAssets {
  readonly assets: AssetStore;
  /** What lies there, whoever refers to it. */
  readonly contents: StoredContents;
}

/** Opens the files: in a folder, and in a bucket where the settings name one. */
export async function openAssets(config: Config, deps: AssetDeps, releases: Releases): Promise<OpenedAssets> {
  const { assets } = config;
  const options = {
    directory: assets.path,
    newTemporaryName: () => deps.ids.create("asset"),
    now: deps.clock.now,
    keepsOutputMetadata: config.outputs.metadata === "keep",
  };
  const folder = openStoredContents(assets.path);
  notePlaces(config);
  if (assets.bucket === undefined) return { assets: openAssetStore(options), contents: folder };
  // Loaded late: most services have their files in a folder.
  const { openBucketStore } = await import("../assets/s3/open.ts");
  const { inBothPlaces, openBucketContents } = await import("../assets/s3/contents.ts");
  const opened = openBucketStore({
    ...options,
    ...bucketOptions(assets, assets.bucket),
    ...deps,
    random: systemRandom,
  });
  void opened.start();
  releases.push(opened.stop);
  const inBucket = openBucketContents(opened.objects, opened.assets.removeUnheld);
  return { assets: opened.assets, contents: inBothPlaces(folder, inBucket) };
}

/**
 * The contents of a data folder and of its bucket, for a command.
 *
 * @param mayRemove whether nothing else stores in the bucket while the command runs
 */
export async function openLocalContents(
  assets: Pick<AssetConfig, "path" | "bucket">,
  { clock, mayRemove }: { clock: Clock; mayRemove: () => void },
): Promise<StoredContents> {
  const folder = openStoredContents(assets.path);
  if (assets.bucket === undefined) return folder;
  const objects = await openObjects(assets.bucket, clock);
  const drop = async (sha256: string) => {
    mayRemove();
    await objects.remove(sha256);
    return true;
  };
  const { inBothPlaces, openBucketContents } = await import("../assets/s3/contents.ts");
  return inBothPlaces(folder, openBucketContents(objects, drop));
}

/** The objects of a bucket, for a command. */
export async function openObjects(bucket: BucketConfig, clock: Clock): Promise<Objects> {
  const [{ S3Client }, { Objects }] = await Promise.all([
    import("../assets/s3/client.ts"),
    import("../assets/s3/objects.ts"),
  ]);
  return new Objects(
    new S3Client({ bucket: { ...bucket, keys: () => keysOf(bucket) }, clock, random: systemRandom }),
  );
}

function bucketOptions({ store, serve, cacheMb }: AssetConfig, bucket: BucketConfig) {
  return { store, serve, cacheBytes: cacheMb * 1_000_000, bucket: { ...bucket, keys: () => keysOf(bucket) } };
}

/** @throws Error that names the variables where they lack */
function keysOf({ keys, keyEnv }: BucketConfig) {
  if (keys === undefined) throw new Error(`The keys of the bucket are not there: set ${keyEnv.join(", ")}.`);
  const { accessKeyId, secretAccessKey, sessionToken } = keys;
  return {
    accessKeyId: accessKeyId.reveal(),
    secretAccessKey: secretAccessKey.reveal(),
    sessionToken: sessionToken?.reveal(),
  };
}
