import type { Config } from "../config/config.ts";
import type { AccountId } from "../domain/ids.ts";
import type { Clock } from "../domain/ports/runtime.ts";
import { UNUSED_MS } from "../service/collect-contents.ts";
import { type Purge, purgeAccount } from "../service/purge-account.ts";
import type { Store } from "../store/open.ts";
import { openLocalContents } from "./assets.ts";
import { DataDirectoryBusy, type Folder, lockDataDirectory } from "./data-folder.ts";
import { localActor } from "./local-actor.ts";
import { requireNoNodes } from "./shared-database.ts";

type Served = Folder & Partial<Pick<Config, "database">>;

interface PurgePlace {
  readonly config: Served;
  /** Where its files are. */
  readonly places: Pick<Config["assets"], "path" | "bucket">;
  readonly clock: Clock;
}

/** Purges an account of a data folder. If no server runs on it, none can start meanwhile, and all its files are removed at once. */
export async function purgeLocal(
  { tasks, retention, uploads }: Pick<Store, "tasks" | "retention" | "uploads">,
  { config, places, clock }: PurgePlace,
  account: AccountId,
  onTask: (count: number) => void,
): Promise<Purge> {
  const release = await lockUnlessServed(config);
  // Only the server knows what it is about to store in a bucket.
  const mayRemove = async () => {
    if (release === undefined) throw new DataDirectoryBusy(`A server runs on ${config.dataDir}.`);
  };
  const contents = await openLocalContents(places, { clock, mayRemove, folder: config, retention });
  const isNeeded = async (sha256: string) => (await retention.neededContents([sha256])).length > 0;
  const judge = () => ({
    unusedSince: release === undefined ? clock.now() - UNUSED_MS : Number.POSITIVE_INFINITY,
    isNeeded,
  });
  async function removeContents(all: readonly string[]): Promise<number> {
    let gone = 0;
    for (const sha256 of all) if (await contents.remove(sha256, judge()).catch(keptByServer)) gone += 1;
    return gone;
  }
  try {
    return await purgeAccount(
      { tasks, retention, uploads, removeContents, now: clock.now, actor: localActor() },
      account,
      onTask,
    );
  } finally {
    release?.();
  }
}

/** Files that only the server may remove are left to it. */
function keptByServer(error: unknown): false {
  if (error instanceof DataDirectoryBusy) return false;
  throw error;
}

/** @returns how to release it; undefined while a server runs */
async function lockUnlessServed(config: Served): Promise<(() => void) | undefined> {
  try {
    if (config.database !== undefined) await requireNoNodes(config.database.reveal());
    return lockDataDirectory(config);
  } catch (error) {
    if (error instanceof DataDirectoryBusy) return undefined;
    throw error;
  }
}
