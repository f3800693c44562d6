import { type Haste, OWNER, type OwnerMark } from "../owner.ts";
import { nameOf } from "./bucket.ts";
import type { S3Call, S3Client } from "./client.ts";
import { errorOf, S3Error } from "./errors.ts";
import { type Lacks, ONLY_IF_NEW, sha256Of, withoutLacks } from "./write.ts";
import { textOf } from "./xml.ts";

/** What lies below the prefix belongs to another data folder: each of the two would remove what the other stores. */
export class BucketTaken extends S3Error {
  override readonly name = "BucketTaken";
  constructor(message: string) {
    super(message, "BucketTaken");
  }
}

/** The name of the owner below a prefix of a bucket. Everything throws S3Error where the bucket does not answer. */
export function openBucketMark(client: S3Client): OwnerMark {
  const { bucket } = client;
  const key = `${bucket.prefix}${OWNER}`;
  const lacks: Lacks = { checksum: true, condition: false };
  return {
    place: `the bucket ${nameOf(bucket)}`,
    async read(haste?: Haste) {
      const call: S3Call = { method: "GET", key, answers: [404], ...haste };
      const { status, headers, text } = await client.send(call);
      if (status === 404 && textOf(text, "Code") === "NoSuchBucket")
        throw errorOf(bucket, `GET ${key}`, { status, text });
      return status === 404 ? undefined : { text, tag: headers.get("etag") ?? "" };
    },
    async write(text, read, haste) {
      const bytes = Buffer.from(text);
      const body = { bytes, sha256: sha256Of(bytes) };
      const condition = read === undefined ? ONLY_IF_NEW : { "if-match": read.tag };
      await withoutLacks(lacks, () => {
        const headers = { "content-type": "application/json", ...(!lacks.condition && condition) };
        return client.send({ method: "PUT", key, headers, body, answers: [412], ...haste });
      });
    },
    now: () => client.now(),
    taken: (message) => new BucketTaken(message),
  };
}
