import { join } from "node:path";
import type { AssetStore } from "../../domain/ports/asset-store.ts";
import type { Clock, Log, Random } from "../../domain/ports/runtime.ts";
import type { StoredContents } from "../../domain/ports/stored-contents.ts";
import { FileCache } from "../cache.ts";
import { openContentFiles } from "../fs.ts";
import { type AssetStoreOptions, createAssetStore } from "../open.ts";
import { Ownership, type OwnershipOptions } from "../owner.ts";
import type { Bucket } from "./bucket.ts";
import { openBucketFiles } from "./bucket-files.ts";
import { S3Client } from "./client.ts";
import { openBucketContents } from "./contents.ts";
import { Objects } from "./objects.ts";
import { BucketTaken, openBucketMark } from "./owner.ts";
import type { Serve } from "./serving.ts";
import { presigned } from "./signing.ts";
import { createUploadSweeper } from "./sweeper.ts";

export interface BucketStoreOptions extends AssetStoreOptions {
  readonly bucket: Bucket;
  /** Where new files are stored. Those in the other place are found all the same. */
  readonly store: "folder" | "s3";
  readonly serve: Serve;
  /** What the copies on this machine may take. */
  readonly cacheBytes: number;
  readonly clock: Pick<Clock, "now" | "elapsed" | "after">;
  readonly random: Random;
  readonly log: Log;
  /** How long a request is tried again, and how long one try waits; for tests. */
  readonly patienceMs?: number | undefined;
  readonly answerMs?: number | undefined;
  /** Larger files are sent in parts of this size; for tests. */
  readonly partBytes?: number | undefined;
  /** The data folder that has the bucket, and what to do where another has it; without it, nobody asks. */
  readonly owner?: Pick<OwnershipOptions, "me" | "advice" | "isCopied"> | undefined;
  /** Called before a bucket is taken that is nobody's. @returns why it must not be, if what lies there is not ours */
  readonly findStrangers?:
    | ((place: string, contents: StoredContents) => Promise<string | undefined>)
    | undefined;
}

/** A start waits no longer for a bucket that does not answer. */
const START_MS = 3_000;

/**
 * The asset store in a bucket, and in a folder of this machine: there lie drafts, files that were not moved yet, and copies (`cache/`).
 * Asks for nothing before the first call.
 */
export function openBucketStore(options: BucketStoreOptions) {
  const { bucket, clock, log } = options;
  const client = new S3Client(options);
  const mark = openBucketMark(client);
  const findStrangers = async () => await options.findStrangers?.(mark.place, contents);
  const ownership = options.owner && new Ownership({ ...options.owner, mark, clock, findStrangers });
  const objects = new Objects(client, options.partBytes, async () => await ownership?.require());
  const local = openContentFiles(options);
  const cache = new FileCache({
    folder: join(options.directory, "cache"),
    maxBytes: options.cacheBytes,
    clock,
  });
  const serving = {
    serve: options.serve,
    addressOf: (key: string, what: Parameters<typeof presigned>[2]) => presigned(bucket, key, what),
    now: () => client.now(),
  };
  const files = openBucketFiles({ ...options, local, cache, objects, serving });
  const assets: AssetStore = createAssetStore(files, options);
  const contents = openBucketContents(objects, assets.removeUnheld);
  const sweeper = createUploadSweeper({ objects, clock, log });
  return {
    assets,
    objects,
    contents,
    local,
    /**
     * Takes the bucket, unless it does not answer: then whatever is stored first does.
     *
     * @throws BucketTaken
     */
    async claim(): Promise<void> {
      try {
        await ownership?.require({ patienceMs: START_MS, answerMs: START_MS });
      } catch (error) {
        if (error instanceof BucketTaken) throw error;
        log.warn({ err: error as Error }, "the bucket does not answer; the server starts all the same");
      }
    },
    /** Asks once whose the bucket is. @returns who else has it, in words. @throws S3Error */
    other: async () => await ownership?.other({ patienceMs: 0, answerMs: START_MS }),
    /** Removes now and then what was never sent to its end. @returns when it is known what copies there are */
    async start(): Promise<void> {
      sweeper.start();
      try {
        await cache.recall();
      } catch (error) {
        log.warn({ err: error as Error }, "the copies of files could not be read");
      }
    },
    stop() {
      sweeper.stop();
      cache.stop();
    },
  };
}
