import { resolve } from "node:path";
import { timeOfBackup } from "../backup/backup.ts";
import { backedUpAssets } from "../config/assets.ts";
import { isBucketUrl } from "../config/buckets.ts";
import type { Config } from "../config/config.ts";
import type { BackupState } from "../domain/backup-state.ts";
import type { Clock, Log } from "../domain/ports/runtime.ts";
import { type BucketPlace, backupsAt, bucketPlace, newestInBucket } from "./backup-places.ts";
import { createBackupSchedule } from "./backup-schedule.ts";
import type { BackupResult, ScheduledBackup } from "./backup-worker.ts";
import type { Folder } from "./data-folder.ts";
import { workerEntry } from "./worker-entry.ts";

/** The backups of a running server. Each is made in a thread of its own. */
export interface Backups {
  /** Where they are stored; undefined if the settings name no place. */
  readonly to: string | undefined;
  /** The state of the schedule; undefined if none is wanted. */
  state(): BackupState | undefined;
  /** Makes a backup now, or waits for the one under way. @throws Error that says why the backup failed */
  make(): Promise<DoneBackup>;
  /** Names of the complete backups, oldest first. @throws Error */
  list(): Promise<readonly string[]>;
  start(): void;
  stop(): void;
}

export type DoneBackup = Extract<BackupResult, { readonly kind: "done" }>;

export function createBackups(
  config: Pick<Config, "assets" | "backup" | "dataDir">,
  { clock, log }: { clock: Clock; log: Log },
): Backups {
  const { backup, dataDir } = config;
  const { everyMs, keep, secretKey } = backup;
  const place = () => {
    if (backup.to === undefined)
      throw new Error("The settings name no place for backups: set backup.to, and restart the server.");
    return isBucketUrl(backup.to) ? bucketPlace(backup.to, backup.service) : resolve(backup.to);
  };
  const thread = createThread();
  let underWay: Promise<BackupResult> | undefined;
  const make = (atMs: number): Promise<BackupResult> => {
    underWay ??= thread
      .make({
        ...{ dataDir, assets: backedUpAssets(config), atMs, to: place(), keep },
        isWithoutKey: !secretKey,
      })
      .finally(() => {
        underWay = undefined;
      });
    return underWay;
  };
  const schedule =
    everyMs === undefined || backup.to === undefined
      ? undefined
      : createBackupSchedule({ clock, log, newestAt: () => newestAt(place(), config), make }, everyMs);
  return {
    to: backup.to,
    state: () => schedule?.state(),
    async make() {
      const made = await make(clock.now());
      if (made.kind === "failed") throw new Error(made.message);
      return made;
    },
    async list() {
      return await backupsAt(place());
    },
    start: () => schedule?.start(),
    stop(): void {
      schedule?.stop();
      thread.stop();
    },
  };
}

async function newestAt(to: string | BucketPlace, folder: Folder): Promise<number | undefined> {
  if (typeof to !== "string") return newestInBucket(to, folder);
  const name = (await backupsAt(to)).at(-1);
  return name === undefined ? undefined : timeOfBackup(name);
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
