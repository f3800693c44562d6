import { type BackupBucket, BackupRefused, type BackupSummary } from "../backup/backup.ts";
import { lostObjects } from "../backup/shelf-read.ts";
import { parseBucketUrl } from "../config/buckets.ts";
import type { Config } from "../config/config.ts";
import { createSystemClock } from "../runtime/clock.ts";
import { systemRandom } from "../runtime/random.ts";
import { keysOf } from "./assets.ts";

/** Where the files of a backup are that lie in the bucket of its service. */
export interface ObjectPlaces extends Pick<Config, "assets"> {
  /** `s3://bucket/prefix` of a copy, in place of the bucket that the settings or the backup name. */
  readonly copy?: string | undefined;
}

/** What was found in the bucket of a service. */
export interface FoundObjects {
  readonly bucket: BackupBucket;
  /** SHA-256 of files that are not there, or have another length. */
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

/** A copy goes before the bucket of the settings, and that before the one that the backup names. */
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
