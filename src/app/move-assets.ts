import type { Moved } from "../assets/moving.ts";
import type { MoveOptions } from "../assets/s3/move.ts";
import type { Objects } from "../assets/s3/objects.ts";
import type { Config } from "../config/config.ts";
import { createSystemClock } from "../runtime/clock.ts";
import { createIds } from "../runtime/ids.ts";
import { filesOwners, openObjects } from "./assets.ts";
import { DataDirectoryBusy, lockDataDirectory } from "./data-folder.ts";
import { isKnownToServer } from "./places.ts";

/** Why files cannot be moved; says what to do. */
export class CannotMove extends Error {
  override readonly name = "CannotMove";
}

/**
 * Moves the files of a data folder to its bucket or back. A server may run on it; if none runs, none can start meanwhile.
 *
 * @throws CannotMove; StorageError, after which it can be repeated
 */
export async function moveAssets(
  config: Pick<Config, "dataDir" | "assets"> & Partial<Pick<Config, "database">>,
  options: Pick<MoveOptions, "to" | "isTrial" | "onFile">,
): Promise<Moved> {
  const { bucket, path } = config.assets;
  if (bucket === undefined)
    throw new CannotMove("The settings name no bucket: give assets.bucket and what belongs to it.");
  const clock = createSystemClock();
  const release = options.isTrial ? () => {} : lockOrCheck(config);
  try {
    const { moveContents } = await import("../assets/s3/move.ts");
    const objects = await openObjects(bucket, clock, config);
    if (!options.isTrial) await requireOwn(config, objects).catch(refuseTaken);
    const ids = createIds(clock);
    return await moveContents({
      ...{ ...options, objects, directory: path },
      newTemporaryName: () => ids.create("asset"),
    });
  } finally {
    release();
  }
}

async function requireOwn(config: Parameters<typeof moveAssets>[0], objects: Objects): Promise<void> {
  await (await filesOwners(config, { isTrial: false })).folder.require();
  await objects.requireOwn();
}

function refuseTaken(error: unknown): never {
  if (!(error instanceof Error) || !["BucketTaken", "FilesTaken"].includes(error.name)) throw error;
  throw new CannotMove(error.message, { cause: error });
}

/** A server that does not know the bucket would not find the moved files. */
function lockOrCheck(config: Pick<Config, "dataDir" | "assets">): () => void {
  try {
    return lockDataDirectory(config);
  } catch (error) {
    if (!(error instanceof DataDirectoryBusy)) throw error;
    if (isKnownToServer(config)) return () => {};
    const what = `The server that runs on ${config.dataDir} looks for files in another bucket than these settings name, or in none`;
    throw new CannotMove(`${what}. Restart it with the same settings, then move the files.`);
  }
}
