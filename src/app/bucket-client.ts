import type { S3Client } from "../assets/s3/client.ts";
import type { BucketConfig } from "../config/buckets.ts";
import type { Clock } from "../domain/ports/runtime.ts";
import { systemRandom } from "../runtime/random.ts";

/** A client of a bucket, for a command. */
export async function openClient(
  bucket: BucketConfig & { readonly settings?: string },
  clock: Clock,
): Promise<S3Client> {
  const { S3Client } = await import("../assets/s3/client.ts");
  return new S3Client({ bucket: { ...bucket, keys: () => keysOf(bucket) }, clock, random: systemRandom });
}

/** @throws Error that names the missing variables */
export function keysOf({ keys, keyEnv }: Pick<BucketConfig, "keys" | "keyEnv">) {
  if (keys === undefined) throw new Error(`The keys of the bucket are not there: set ${keyEnv.join(", ")}.`);
  const { accessKeyId, secretAccessKey, sessionToken } = keys;
  return {
    accessKeyId: accessKeyId.reveal(),
    secretAccessKey: secretAccessKey.reveal(),
    sessionToken: sessionToken?.reveal(),
  };
}
