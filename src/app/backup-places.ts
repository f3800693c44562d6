import { type Owner, Ownership } from "../assets/owner.ts";
import type { BucketKeys } from "../assets/s3/bucket.ts";
import type { S3Client } from "../assets/s3/client.ts";
import { timeOfBackup } from "../backup/backup.ts";
import { listShelf, type Shelf } from "../backup/shelf.ts";
import { listBackups } from "../backup/write.ts";
import { type BucketService, parseBucketUrl } from "../config/buckets.ts";
import type { Clock } from "../domain/ports/runtime.ts";
import { createSystemClock } from "../runtime/clock.ts";
import { systemRandom } from "../runtime/random.ts";
import { isSystemError, systemMessage } from "../toolkit/system-error.ts";
import { keysOf } from "./bucket-client.ts";
import type { Folder } from "./data-folder.ts";
import { lookerOf, ownerOf } from "./files-owner.ts";

/** A place for backups in a bucket. It can be sent to a thread. */
export interface BucketPlace {
  readonly endpoint: string;
  readonly region: string;
  readonly name: string;
  readonly prefix: string;
  readonly keys: BucketKeys;
}

const TAKEN =
  "Give each data folder a prefix of its own for its backups. Where this one takes the other's place, as after a restore, stop the other for good and run svc db backup once by hand with --claim.";

/** The place that `s3://bucket/prefix` names. @throws Error where it names none, or keys lack */
export function bucketPlace(url: string, service: BucketService): BucketPlace {
  const { endpoint, region } = service;
  const parsed = parseBucketUrl(url);
  if ("expected" in parsed) throw new Error(`${url} names no place for backups: give ${parsed.expected}.`);
  return { endpoint, region, name: parsed.name, prefix: parsed.prefix, keys: keysOf(service) };
}

/** A backup in a bucket: the newest unless it has a name. */
export interface BackupInBucket {
  readonly place: BucketPlace;
  readonly backup: string | undefined;
}

/** Like `bucketPlace`, with `backups/` and the name of one backup allowed after the prefix. */
export function backupInBucket(url: string, service: BucketService): BackupInBucket {
  const last = url.replace(/\/+$/, "").split("/").at(-1) ?? "";
  const backup = timeOfBackup(last) === undefined ? undefined : last;
  const without = backup === undefined ? url : url.replace(/\/+$/, "").slice(0, -last.length);
  return { place: bucketPlace(without.replace(/\/backups\/$/, "/"), service), backup };
}

/** The place for a data folder that writes there. */
export async function openOwnShelf(
  place: BucketPlace,
  folder: Folder,
): Promise<{ readonly shelf: Shelf; readonly ownership: Ownership }> {
  const clock = createSystemClock();
  const { openShelf } = await import("../assets/s3/shelf.ts");
  const client = await clientOf(place, clock);
  const ownership = await ownershipOf(client, clock, ownerOf(folder));
  return { shelf: openShelf(client, ownership), ownership };
}

/** Another owner of a place, in words; undefined if there is none, or only this data folder. @throws S3Error */
export async function otherOwnerOf(place: BucketPlace, folder: Folder): Promise<string | undefined> {
  const clock = createSystemClock();
  const client = await clientOf(place, clock);
  return await (await ownershipOf(client, clock, lookerOf(folder))).other();
}

async function ownershipOf(client: S3Client, clock: Clock, me: Owner): Promise<Ownership> {
  const { openBucketMark } = await import("../assets/s3/owner.ts");
  return new Ownership({ mark: openBucketMark(client), clock, me, advice: TAKEN });
}

/** The place, for reading only. */
export async function openShelfToRead(place: BucketPlace): Promise<Shelf> {
  const { openShelf } = await import("../assets/s3/shelf.ts");
  return openShelf(await clientOf(place, createSystemClock()));
}

/** When the newest backup there was made. @throws BucketTaken if the place belongs to another data folder; S3Error */
export async function newestInBucket(place: BucketPlace, folder: Folder): Promise<number | undefined> {
  const { shelf } = await openOwnShelf(place, folder);
  await shelf.requireOwn();
  const newest = (await listShelf(shelf)).backups.at(-1);
  return newest && timeOfBackup(newest.name);
}

/** Names of the complete backups in a folder or a bucket, oldest first. @throws Error that says why they cannot be listed */
export async function backupsAt(place: string | BucketPlace): Promise<readonly string[]> {
  if (typeof place !== "string") return await namesInBucket(place);
  try {
    return await listBackups(place);
  } catch (error) {
    if (isSystemError(error)) throw new Error(systemMessage(error), { cause: error });
    throw error;
  }
}

/** When the backups with these names were begun, in epoch milliseconds. */
export function datedBackups(names: readonly string[]): { readonly name: string; readonly madeAt: number }[] {
  return names.map((name) => ({ name, madeAt: timeOfBackup(name) ?? 0 }));
}

/** Names of the complete backups there, oldest first. @throws S3Error */
async function namesInBucket(place: BucketPlace): Promise<readonly string[]> {
  const { backups } = await listShelf(await openShelfToRead(place));
  return backups.map(({ name }) => name);
}

async function clientOf({ keys, ...bucket }: BucketPlace, clock: Clock): Promise<S3Client> {
  const { S3Client } = await import("../assets/s3/client.ts");
  return new S3Client({
    bucket: { ...bucket, keys: () => keys, settings: "backup" },
    clock,
    random: systemRandom,
  });
}
