/** Who is asking. */
export interface BucketKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

/** Where files lie in an S3 bucket, or in one of a service that speaks S3. */
export interface Bucket {
  /** `https://s3.eu-central-1.amazonaws.com`, without a slash at its end. */
  readonly endpoint: string;
  readonly name: string;
  /** Of every key; empty, or with a slash at its end. Nothing else may lie below it. */
  readonly prefix: string;
  readonly region: string;
  readonly keys: () => BucketKeys;
  /** Where its settings are, for messages: `assets` unless given. */
  readonly settings?: string | undefined;
}

/** The address of an object, or of the bucket. The bucket's name is in the path, which every service understands. */
export function addressOf(bucket: Bucket, key = "", query: Readonly<Record<string, string>> = {}): URL {
  const url = new URL(`${bucket.endpoint}/${bucket.name}${key === "" ? "" : `/${key}`}`);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url;
}

/** What people call the bucket. */
export function nameOf({ endpoint, name, prefix }: Bucket): string {
  return `${name}${prefix === "" ? "" : `/${prefix.slice(0, -1)}`} at ${endpoint}`;
}
