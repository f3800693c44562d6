import type { Moved } from "../assets/moving.ts";
import type { Owner, Ownership } from "../assets/s3/owner.ts";
import type { AssetConfig } from "../config/assets.ts";
import { amazonIn, type BucketConfig, isBucketUrl, parseBucketUrl } from "../config/buckets.ts";
import type { Clock } from "../domain/ports/runtime.ts";
import { createSystemClock } from "../runtime/clock.ts";
import { createIds } from "../runtime/ids.ts";
import { openClient } from "./assets.ts";
import { ASSETS_TAKEN } from "./bucket-owner.ts";
import { CannotMove } from "./move-assets.ts";

/** The new place of files: a folder, or below a prefix of a bucket. */
export type FilesPlace = { readonly folder: string } | { readonly bucket: BucketConfig };

/**
 * A place for files as it is named: `s3://bucket/prefix`, reached as the settings of files say, or an absolute folder.
 *
 * @throws CannotMove for a bucket that cannot be one
 */
export function filesPlaceOf(
  named: string,
  { reach, region }: Pick<AssetConfig, "reach" | "region">,
): FilesPlace {
  if (!isBucketUrl(named)) return { folder: named };
  const parsed = parseBucketUrl(named);
  if ("expected" in parsed) throw new CannotMove(`--assets must be a folder, or ${parsed.expected}.`);
  const { endpoint = amazonIn(region), keys, keyEnv } = reach;
  return { bucket: { ...parsed, endpoint, region, keys, keyEnv } };
}

export interface FileMoveOptions {
  /** Where files are now, as the settings say. */
  readonly from: Pick<AssetConfig, "path" | "bucket">;
  readonly to: FilesPlace;
  /** Called after each file, with how many there were so far. */
  readonly onFile: (files: number) => void;
}

/** The owner of a bucket before a move, and afterwards. */
export interface Owners {
  readonly before: Owner;
  readonly after: Owner;
}

/**
 * Copies files to their new place. The originals stay, so the old place is complete until somebody removes it. It may be ended at
 * any point and repeated. Nobody may store meanwhile.
 *
 * @throws CannotMove; StorageError; BucketTaken if the bucket belongs to somebody else
 */
export async function moveFiles({ from, to, onFile }: FileMoveOptions, owners: Owners): Promise<Moved> {
  const clock = createSystemClock();
  const ids = createIds(clock);
  const parts = { directory: from.path, newTemporaryName: () => ids.create("asset"), isTrial: false };
  const { moveContents } = await import("../assets/s3/move.ts");
  const how = { ...parts, isCopy: true };
  if ("bucket" in to) {
    if (from.bucket !== undefined && !isSame(from.bucket, to.bucket))
      throw new CannotMove(
        "The files are in another bucket. Copy them with the tools of that service, or take them to a folder first.",
      );
    const handed = await handedOver(to.bucket, clock, owners);
    const moved = await moveContents({ ...how, onFile, objects: handed.objects, to: "s3" });
    await handed.end();
    return moved;
  }
  const { copyFolder } = await import("../assets/copy.ts");
  const isThere = to.folder === from.path;
  const here: Moved = isThere
    ? { files: 0, bytes: 0, damaged: [] }
    : await copyFolder({ ...parts, from: from.path, to: to.folder, onFile });
  if (from.bucket === undefined) return here;
  const { objects } = await openAs(from.bucket, clock, owners.before);
  const brought = await moveContents({
    ...{ ...how, directory: to.folder, objects, to: "folder" },
    onFile: (files) => onFile(here.files + files),
  });
  return {
    files: here.files + brought.files,
    bytes: here.bytes + brought.bytes,
    damaged: [...here.damaged, ...brought.damaged],
  };
}

const isSame = (one: BucketConfig, other: BucketConfig) =>
  one.endpoint === other.endpoint && one.name === other.name && one.prefix === other.prefix;

/**
 * A bucket that may belong to the old place. The old place keeps it until everything has arrived, so that it can be served again
 * until then.
 */
async function handedOver(bucket: BucketConfig, clock: Clock, { before, after }: Owners) {
  const old = await openAs(bucket, clock, before);
  const next = await openAs(bucket, clock, after);
  const other = await old.ownership.other();
  // Nobody's, or the old place's; else it must be the new place's already.
  const isOld = other === undefined && (await next.ownership.other()) !== undefined;
  const { objects, ownership } = isOld ? old : next;
  await ownership.require();
  return { objects, end: async () => void (isOld && (await next.ownership.take())) };
}

async function openAs(bucket: BucketConfig, clock: Clock, me: Owner) {
  const { Objects } = await import("../assets/s3/objects.ts");
  const { Ownership } = await import("../assets/s3/owner.ts");
  const client = await openClient(bucket, clock);
  const ownership: Ownership = new Ownership({ client, clock, me, advice: ASSETS_TAKEN });
  return { ownership, objects: new Objects(client, bucket.partBytes, () => ownership.require()) };
}
