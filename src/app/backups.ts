import { resolve } from "node:path";
import { timeOfBackup } from "../backup/backup.ts";
import { listBackups } from "../backup/write.ts";
import { backedUpAssets } from "../config/assets.ts";
import { isBucketUrl } from "../config/buckets.ts";
import type { Config } from "../config/config.ts";
import type { Clock, Log } from "../domain/ports/runtime.ts";
import { isSystemError, systemMessage } from "../toolkit/system-error.ts";
import { bucketPlace, newestInBucket } from "./backup-places.ts";
import { createBackupSchedule } from "./backup-schedule.ts";
import type { BackupResult, ScheduledBackup } from "./backup-worker.ts";
import { workerEntry } from "./worker-entry.ts";

/** The backups of a running server; undefined where none are wanted. Each is made in a thread of its own. */
export function createBackups(
  config: Pick<Config, "assets" | "backup" | "dataDir">,
  { clock, log }: { clock: Clock; log: Log },
) {
  const { backup, dataDir } = config;
  const { everyMs, keep, secretKey } = backup;
  const assets = backedUpAssets(config);
  if (everyMs === undefined || backup.to === undefined) return undefined;
  const to = isBucketUrl(backup.to) ? bucketPlace(backup.to, backup.service) : resolve(backup.to);
  const thread = createThread();
  const schedule = createBackupSchedule(
    {
      ...{ clock, log },
      newestAt: () => (typeof to === "string" ? newestIn(to) : newestInBucket(to, config)),
      make: (atMs) => thread.make({ dataDir, assets, atMs, to, keep, isWithoutKey: !secretKey }),
    },
    everyMs,
  );
  return {
    ...schedule,
    stop(): void {
      schedule.stop();
      thread.stop();
    },
  };
}

async function newestIn(folder: string): Promise<number | undefined> {
  try {
    const name = (await listBackups(folder)).at(-1);
    return name === undefined ? undefined : timeOfBackup(name);
  } catch (error) {
    if (isSystemError(error)) throw new Error(systemMessage(error), { cause: error });
    throw error;
  }
}

function createThread() {
  let worker: Worker | undefined;

  function stop(): void {
    worker?.terminate();
    worker = undefined;
  }

  return {
    stop,
    async make(order: ScheduledBackup): Promise<BackupResult> {
      const { promise, resolve: settle } = Promise.withResolvers<BackupResult>();
      worker = new Worker(workerEntry("backup-worker.ts"), { name: "backup" });
      worker.addEventListener("message", ({ data }: MessageEvent<BackupResult>) => settle(data));
      worker.addEventListener("error", (event) => {
        event.preventDefault();
        settle({ kind: "failed", message: event.message });
      });
      // Without a word, for want of memory, say. One that was stopped is waited for by nobody.
      worker.addEventListener("close", () =>
        settle({ kind: "failed", message: "the thread that makes it ended" }),
      );
      worker.postMessage(order);
      const result = await promise;
      stop();
      return result;
    },
  };
}
