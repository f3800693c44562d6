import { openStoredContents } from "../assets/contents.ts";
import { FilesTaken } from "../assets/folder-owner.ts";
import type { Owner, Ownership } from "../assets/owner.ts";
import { storing } from "../assets/storage-errors.ts";
import type { Config } from "../config/config.ts";
import type { RetentionStore } from "../domain/ports/retention-store.ts";
import type { Clock, Log } from "../domain/ports/runtime.ts";
import type { StoredContents } from "../domain/ports/stored-contents.ts";
import { StorageError } from "../domain/ports/task-store.ts";
import { folderOwnership, ownContents, ownerOf } from "./files-owner.ts";
import { strangersFor } from "./files-without-database.ts";
import type { Releases } from "./lifecycle.ts";

const LOOK_EVERY_MS = 1_000;

export interface ClaimDeps {
  readonly clock: Pick<Clock, "now" | "elapsed" | "after">;
  readonly log: Log;
  /** The owner of the files; the data folder unless given. */
  readonly owner?: (() => Promise<Owner>) | undefined;
  /** Knows which files are needed. */
  readonly retention: Pick<RetentionStore, "neededContents">;
  /** Called once if another data folder takes the folder of files while the server runs. */
  readonly onTaken: (error: FilesTaken) => void;
}

/** The owner of the files of a server. */
export async function ownerFor(config: Config, { owner }: Pick<ClaimDeps, "owner">): Promise<Owner> {
  return (await owner?.()) ?? ownerOf(config);
}

/**
 * Takes the folder of files, unless it cannot be written to: then whoever removes something there does. Looks once a second whether
 * another data folder has taken it. @returns its contents
 *
 * @throws FilesTaken
 */
export async function claimFolder(
  config: Config,
  deps: ClaimDeps,
  releases: Releases,
): Promise<StoredContents> {
  const { path } = config.assets;
  const contents = openStoredContents(path);
  const findStrangers = () => strangersFor(deps.retention)(`the folder ${path}`, contents);
  let ownership: Ownership | undefined;
  const require = async () => {
    ownership ??= folderOwnership(path, {
      me: await storing(() => ownerFor(config, deps)),
      ...{ clock: deps.clock, findStrangers },
    });
    await ownership.require();
  };
  await require().catch((error: unknown) => {
    if (!(error instanceof StorageError)) throw error;
    const words = "the folder of files could not be marked as this one's; the server starts all the same";
    deps.log.warn({ err: error }, words);
  });
  releases.push(watchOwner(async () => await ownership?.requireNoOther(), deps));
  return ownContents(contents, { require });
}

/** @returns how to stop */
function watchOwner(look: () => Promise<void>, { clock, onTaken }: ClaimDeps): () => void {
  let isStopped = false;
  let cancelTimer = () => {};
  const arm = () => {
    cancelTimer = clock.after(LOOK_EVERY_MS, () => void tick());
  };
  async function tick(): Promise<void> {
    // What cannot be read now is looked at again in a second.
    const taken = await look().then(
      () => undefined,
      (error: unknown) => (error instanceof FilesTaken ? error : undefined),
    );
    if (isStopped) return;
    if (taken === undefined) arm();
    else onTaken(taken);
  }
  arm();
  return () => {
    isStopped = true;
    cancelTimer();
  };
}
