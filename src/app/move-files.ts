import type { Moved } from "../assets/moving.ts";
import type { Owner, Ownership } from "../assets/owner.ts";
import type { AssetConfig } from "../config/assets.ts";
import { amazonIn, type BucketConfig, isBucketUrl, parseBucketUrl } from "../config/buckets.ts";
import { createSystemClock } from "../runtime/clock.ts";
import { createIds } from "../runtime/ids.ts";
import { openClient } from "./bucket-client.ts";
import { bucketOwnership, folderOwnership } from "./files-owner.ts";
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
  const { Objects } = await import("../assets/s3/objects.ts");
  const how = { ...parts, isCopy: true };
  if ("bucket" in to) {
    if (from.bucket !== undefined && !isSame(from.bucket, to.bucket))
      throw new CannotMove(
        "The files are in another bucket. Copy them with the tools of that service, or take them to a folder first.",
      );
    const { bucket } = to;
    const client = await openClient(bucket, clock);
    const handed = await handedOver((me) => bucketOwnership(client, { clock, me }), owners);
    const objects = new Objects(client, bucket.partBytes, () => handed.ownership.require());
    const moved = await moveContents({ ...how, onFile, objects, to: "s3" });
    await handed.end();
    return moved;
  }
  const { copyFolder } = await import("../assets/copy.ts");
  const handed = await handedOver((me) => folderOwnership(to.folder, { clock, me }), owners);
  const isThere = to.folder === from.path;
  const here: Moved = isThere
    ? { files: 0, bytes: 0, damaged: [] }
    : await copyFolder({ ...parts, from: from.path, to: to.folder, onFile });
  if (from.bucket === undefined) {
    await handed.end();
    return here;
  }
  const client = await openClient(from.bucket, clock);
  const ownership = await bucketOwnership(client, { clock, me: owners.before });
  const objects = new Objects(client, from.bucket.partBytes, () => ownership.require());
  const brought = await moveContents({
    ...{ ...how, directory: to.folder, objects, to: "folder" },
    onFile: (files) => onFile(here.files + files),
  });
  await handed.end();
  return {
    files: here.files + brought.files,
    bytes: here.bytes + brought.bytes,
    damaged: [...here.damaged, ...brought.damaged],
  };
}

const isSame = (one: BucketConfig, other: BucketConfig) =>
  one.endpoint === other.endpoint && one.name === other.name && one.prefix === other.prefix;

/** Hands the folder of files over to their new owner, if it is the old one's. */
export async function handOverFolder(path: string, { before, after }: Owners): Promise<void> {
  const clock = createSystemClock();
  const next = folderOwnership(path, { clock, me: after });
  if (await isHeld(folderOwnership(path, { clock, me: before }), next)) await next.take();
}

/**
 * A place that may belong to the old owner of the files, who keeps it until everything has arrived, so that it can be served again
 * until then.
 */
async function handedOver(open: (me: Owner) => Ownership | Promise<Ownership>, { before, after }: Owners) {
  const [old, next] = [await open(before), await open(after)];
  const isOld = await isHeld(old, next);
  const ownership = isOld ? old : next;
  await ownership.require();
  return { ownership, end: async () => void (isOld && (await next.take())) };
}

/** Whether the old owner has a place: else it is nobody's, the new one's already, or somebody else's. */
async function isHeld(old: Ownership, next: Ownership): Promise<boolean> {
  return (await old.other()) === undefined && (await next.other()) !== undefined;
}
