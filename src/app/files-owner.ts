import { readFile, stat } from "node:fs/promises";
import { hostname } from "node:os";
import { isAbsolute, join, relative } from "node:path";
import { openFolderMark } from "../assets/folder-owner.ts";
import { type Owner, Ownership, type OwnershipOptions, tellOwner } from "../assets/owner.ts";
import type { S3Client } from "../assets/s3/client.ts";
import type { Clock } from "../domain/ports/runtime.ts";
import type { StoredContents } from "../domain/ports/stored-contents.ts";
import { FOLDER_ID, folderIdOf, knownFolderId } from "../runtime/folder-id.ts";
import { giveToFolderOwner } from "../runtime/folder-owner.ts";
import { createSecrets } from "../runtime/secrets.ts";
import type { Folder } from "./data-folder.ts";
import { sharedOwnerOf } from "./shared-database.ts";

/** A data folder, or the database that its settings name. */
export type Owning = Folder & { readonly database?: { reveal(): string } | undefined };

/** The name of a data folder, without changing anything: a folder that has no id yet gets none. */
export function lookerOf({ dataDir }: Folder): Owner {
  return { folder: knownFolderId(dataDir) ?? "none yet", host: hostname(), path: dataDir };
}

/** The name of a data folder as the owner of files. */
export function ownerOf({ dataDir }: Folder): Owner {
  return { folder: folderIdOf(dataDir), host: hostname(), path: dataDir };
}

/** The owner of the files of a command: a data folder or a database. */
export async function localOwner(folder: Owning): Promise<Owner> {
  return folder.database === undefined
    ? ownerOf(folder)
    : await sharedOwnerOf(folder.database.reveal(), { isUnfinished: false });
}

/** What to do if files of another data folder are there. @param own what to give the other place */
function adviceFor(me: Owner, own: string): string {
  return `Two data folders there would remove each other's files. Give ${tellOwner(me)} ${own}. Where it takes the other's place, as after a restore, stop the other for good and run svc assets claim.`;
}

interface OwnershipParts extends Pick<OwnershipOptions, "me" | "findStrangers"> {
  readonly clock: Pick<Clock, "elapsed" | "now">;
}

/** Whose a folder of files is. */
export function folderOwnership(directory: string, { clock, ...parts }: OwnershipParts): Ownership {
  const mark = openFolderMark(directory, {
    now: clock.now,
    newName: createSecrets().newBody,
    onMade: giveToFolderOwner,
  });
  const { me } = parts;
  // A copy of a data folder has a copy of the files in it, and of their owner's name.
  const isCopied = isWithin(me.path, directory) ? undefined : copiedFrom(me);
  return new Ownership({ ...parts, mark, clock, advice: folderAdvice(me), isCopied });
}

function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return !way.startsWith("..") && !isAbsolute(way);
}

/** Tells whether a data folder of the same id is at the other path, and is not this one by another name. */
export const copiedFrom =
  (me: Owner) =>
  async ({ host, path }: Owner): Promise<boolean> => {
    if (host !== me.host) return false;
    try {
      const [id, there, here] = await Promise.all([
        readFile(join(path, FOLDER_ID), "utf8"),
        stat(path),
        stat(me.path),
      ]);
      return id.trim() === me.folder && (there.dev !== here.dev || there.ino !== here.ino);
    } catch {
      // It was moved, or cannot be read, and nothing shows that it is there.
      return false;
    }
  };

const folderAdvice = (me: Owner) => adviceFor(me, "a folder of its own (assets.path)");
/** What to do if what lies below the prefix is another's. */
export const bucketAdvice = (me: Owner) => adviceFor(me, "a prefix of its own (assets.prefix)");

/** Whose a prefix of a bucket is. */
export async function bucketOwnership(
  client: S3Client,
  { clock, ...parts }: OwnershipParts,
): Promise<Ownership> {
  const { openBucketMark } = await import("../assets/s3/owner.ts");
  const { me } = parts;
  const mark = openBucketMark(client);
  return new Ownership({ ...parts, mark, clock, advice: bucketAdvice(me), isCopied: copiedFrom(me) });
}

/** Contents that nothing is removed from as long as they are another's. */
export function ownContents(
  contents: StoredContents,
  { require }: { require(): Promise<void> },
): StoredContents {
  return {
    ...contents,
    async remove(sha256, judge) {
      await require();
      return contents.remove(sha256, judge);
    },
    async settle(judge) {
      await require();
      return contents.settle(judge);
    },
  };
}
