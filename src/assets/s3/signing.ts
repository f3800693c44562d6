import { addressOf, type Bucket } from "./bucket.ts";

/** Loaded late: it is needed where files lie in a bucket, and nowhere else. */
const signers = () => import("aws4fetch");

/** The SHA-256 of nothing. */
export const EMPTY_SHA256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

export interface Unsigned {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** Lower-case hexadecimal, of the body. The service refuses other bytes. */
  readonly bodySha256: string;
}

/**
 * The headers of a signed request (Signature Version 4,
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html, checked 2026-11-23).
 *
 * @param now epoch milliseconds by the service's clock
 */
export async function signed(bucket: Bucket, request: Unsigned, now: number): Promise<Headers> {
  const { AwsV4Signer } = await signers();
  const signer = new AwsV4Signer({
    method: request.method,
    url: request.url.href,
    headers: { ...request.headers, "X-Amz-Content-Sha256": request.bodySha256 },
    ...credentialsOf(bucket),
    ...{ service: "s3", region: bucket.region, datetime: stamp(now) },
  });
  return (await signer.sign()).headers;
}

/** An address that anybody can read an object at, until it ends. */
export async function presigned(
  bucket: Bucket,
  key: string,
  { now, seconds, query = {} }: { now: number; seconds: number; query?: Readonly<Record<string, string>> },
): Promise<string> {
  const { AwsV4Signer } = await signers();
  const url = addressOf(bucket, key, { ...query, "X-Amz-Expires": String(seconds) });
  const signer = new AwsV4Signer({
    ...{ method: "GET", url: url.href, signQuery: true },
    ...credentialsOf(bucket),
    ...{ service: "s3", region: bucket.region, datetime: stamp(now) },
  });
  return (await signer.sign()).url.href;
}

function credentialsOf(bucket: Bucket) {
  const { accessKeyId, secretAccessKey, sessionToken } = bucket.keys();
  return { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) };
}

/** `20261123T044051Z` */
function stamp(now: number): string {
  return new Date(now).toISOString().replace(/[-:]|\.\d{3}/g, "");
}
