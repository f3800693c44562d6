import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BucketStoreOptions, openBucketStore } from "../../src/assets/s3/open.ts";
import type { Log } from "../../src/domain/ports/runtime.ts";
import { createSystemClock } from "../../src/runtime/clock.ts";
import type { AssetStoreUnderTest } from "../contracts/asset-store.ts";
import { type FakeS3, KEYS, startFakeS3 } from "./fake-s3.ts";

/** The bucket of a fake service. */
export function bucketOf({ endpoint, region }: Pick<FakeS3, "endpoint" | "region">) {
  return { endpoint, region, name: "media", prefix: "svc/", keys: () => KEYS };
}

/** A log that only notes its messages. */
export function quietLog(logged: string[] = []): Log {
  const note = (_: unknown, message: string) => void logged.push(message);
  return { debug: note, info: note, warn: note, error: note };
}

export interface S3StoreUnderTest extends AssetStoreUnderTest {
  readonly s3: FakeS3;
  readonly directory: string;
  /** Opens it as a later process does. */
  open(options?: Partial<BucketStoreOptions>): ReturnType<typeof openBucketStore>;
  again(options?: Partial<BucketStoreOptions>): AssetStoreUnderTest["store"];
  /** What was logged. */
  readonly logged: string[];
}

/** An asset store in a bucket of its own. */
export async function makeS3Store(
  given: Partial<BucketStoreOptions> = {},
  service: Parameters<typeof startFakeS3>[0] = {},
): Promise<S3StoreUnderTest> {
  const directory = await mkdtemp(join(tmpdir(), "svc-bucket-"));
  const s3 = await startFakeS3(service);
  const logged: string[] = [];
  const log = quietLog(logged);
  let names = 0;
  const open: S3StoreUnderTest["open"] = (options) =>
    openBucketStore({
      ...{
        directory,
        newTemporaryName: () => `draft-${names++}`,
        store: "s3",
        serve: "proxy",
        cacheBytes: 10_000_000,
      },
      ...{
        bucket: bucketOf(s3),
        clock: createSystemClock(),
        random: () => 0,
        log,
        patienceMs: 1_000,
        answerMs: 1_000,
      },
      ...given,
      ...options,
    });
  const again: S3StoreUnderTest["again"] = (options) => open(options).assets;
  return {
    ...{ s3, directory, again, open, logged, store: again() },
    leftovers: async () => (await readdir(join(directory, "tmp")).catch(() => [])).length + s3.uploads.size,
    async remove() {
      s3.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
