import { type BackupBucket, BackupRefused, type BackupSummary } from "../backup/backup.ts";
import { lostObjects } from "../backup/shelf-read.ts";
import { parseBucketUrl } from "../config/buckets.ts";
import type { Config } from "../config/config.ts";
import { createSystemClock } from "../runtime/clock.ts";
import { systemRandom } from "../runtime/random.ts";
import { keysOf } from "./bucket-client.ts";

/** Where those files of a backup are that the service keeps in its bucket. */
export interface ObjectPlaces extends Pick<Config, "assets"> {
  /** `s3://bucket/prefix` of a copy, which replaces the bucket of the settings or of the backup. */
  readonly copy?: string | undefined;
}

/** The result of searching the bucket of a service. */
export interface FoundObjects {
  readonly bucket: BackupBucket;
  /** SHA-256 of files that are missing, or have a different length. */
  readonly lost: readonly string[];
  /** Why nobody could look. */
  readonly unknown?: string | undefined;
}

/** Looks for the files that a backup names in the bucket of its service. @param path the folder of its manifest */
export async function lookForObjects(
  path: string,
  { objects, bucket: named }: Pick<BackupSummary, "objects" | "bucket">,
  places: ObjectPlaces,
): Promise<FoundObjects | undefined> {
  if (named === undefined || objects === 0) return undefined;
  const bucket = bucketOf(named, places);
  try {
    return { bucket, lost: await lostObjects(path, objectsIn(bucket, places)) };
  } catch (error) {
    if (error instanceof BackupRefused || !(error instanceof Error)) throw error;
    return { bucket, lost: [], unknown: error.message };
  }
}

/** A copy comes before the bucket of the settings, and that before the one that the backup names. */
function bucketOf(named: BackupBucket, { assets, copy }: ObjectPlaces): BackupBucket {
  const { endpoint = named.endpoint } = assets.reach;
  const { bucket } = assets;
  if (copy === undefined) {
    if (bucket === undefined) return { ...named, endpoint };
    return { endpoint: bucket.endpoint, region: bucket.region, name: bucket.name, prefix: bucket.prefix };
  }
  const parsed = parseBucketUrl(copy);
  if ("expected" in parsed) throw new Error(`${copy} names no bucket: give ${parsed.expected}.`);
  return { ...named, endpoint, region: bucket?.region ?? named.region, ...parsed };
}

async function* objectsIn(bucket: BackupBucket, { assets }: ObjectPlaces) {
  const [{ S3Client }, { Objects }] = await Promise.all([
    import("../assets/s3/client.ts"),
    import("../assets/s3/objects.ts"),
  ]);
  const keys = () => keysOf(assets.reach);
  const clock = createSystemClock();
  const objects = new Objects(new S3Client({ bucket: { ...bucket, keys }, clock, random: systemRandom }));
  yield* objects.all();
}
