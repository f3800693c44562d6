import type { S3Body, S3Call, S3Client } from "./client.ts";
import { errorOf } from "./errors.ts";
import { KeyedObjects, type ObjectFacts } from "./keyed.ts";
import { objectHeaders, type Source, type WriteOptions } from "./write.ts";
import { elementsOf, textOf } from "./xml.ts";

/** What is known of an object without reading it. */
export interface ObjectHead extends ObjectFacts {
  /** Base64 of the SHA-256, as the service found it when the object came; absent for one that came in parts. */
  readonly checksum?: string | undefined;
}

export interface ListedObject extends ObjectFacts {
  readonly sha256: string;
}

/** The name of a file's object. What has another name is not ours. */
const NAME = /sha256\/([0-9a-f]{64})$/;

/** Files in a bucket: `<prefix>sha256/<64 hexadecimal digits>`. Every method throws S3Error. */
export class Objects {
  readonly #keyed: KeyedObjects;
  readonly #folder: string;

  constructor(
    private readonly client: S3Client,
    partBytes?: number | undefined,
    mayWrite?: (() => Promise<void>) | undefined,
  ) {
    this.#folder = `${client.bucket.prefix}sha256/`;
    this.#keyed = new KeyedObjects(client, partBytes, mayWrite);
  }

  keyOf(sha256: string): string {
    return `${this.#folder}${sha256}`;
  }

  async head(sha256: string, patienceMs?: number | undefined): Promise<ObjectHead | undefined> {
    const headers = { "x-amz-checksum-mode": "ENABLED" };
    const call = { method: "HEAD", key: this.keyOf(sha256), headers, answers: [404], patienceMs } as const;
    const answer = await this.client.send(call);
    if (answer.status === 404) return undefined;
    const sizeBytes = Number(answer.headers.get("content-length") ?? -1);
    const checksum = answer.headers.get("x-amz-checksum-sha256") ?? undefined;
    return {
      sizeBytes,
      storedAt: Date.parse(answer.headers.get("last-modified") ?? "") || 0,
      // That of parts is a checksum of checksums. Not every service says so.
      checksum: sizeBytes > this.#keyed.partBytes ? undefined : checksum,
    };
  }

  /** Makes sure that these objects are ours to change. @throws BucketTaken */
  requireOwn(): Promise<void> {
    return this.#keyed.mayWrite();
  }

  /** Stores a file. @returns whether it did, or something was there */
  put(source: Source, options: WriteOptions): Promise<"stored" | "there"> {
    return this.#keyed.put(this.keyOf(source.sha256), source, options);
  }

  /** By the service's clock. */
  now(): number {
    return this.client.now();
  }

  /** Renews the age of an object. With a service that cannot do this, the object keeps its age. */
  async renew({ sha256, type }: { readonly sha256: string; readonly type: string }): Promise<void> {
    const key = this.keyOf(sha256);
    const copy = {
      "x-amz-copy-source": `/${this.client.bucket.name}/${key}`,
      "x-amz-metadata-directive": "REPLACE",
    };
    const headers = { ...objectHeaders({ type }), ...copy };
    await this.#keyed.mayWrite();
    await this.client.persist(async () => {
      const { status, text } = await this.client.ask({ method: "PUT", key, headers, answers: [501] });
      // A failure while it is copied comes with status 200.
      if (status === 200 && text.includes("<Error>"))
        throw errorOf(this.client.bucket, `PUT ${key}`, { status: 500, text });
    });
  }

  /** The bytes of an object from here on, or all of them where `status` is 200. Undefined where there is none. */
  get(sha256: string, from: number): Promise<S3Body | undefined> {
    return this.#keyed.get(this.keyOf(sha256), from);
  }

  /** All bytes of an object; goes on where an answer was cut off. @throws S3Error, as `isAbsence` knows it where there is none */
  read(sha256: string): AsyncGenerator<Uint8Array> {
    return this.#keyed.read(this.keyOf(sha256));
  }

  remove(sha256: string): Promise<void> {
    return this.#keyed.remove(this.keyOf(sha256));
  }

  /** Up to 1000 objects in the order of their names, after this one. */
  async list(after?: string | undefined): Promise<{ objects: ListedObject[]; isLast: boolean }> {
    const page = await this.#keyed.list(this.#folder, after && this.keyOf(after));
    const objects = page.objects.flatMap(({ key, sizeBytes, storedAt }) => {
      const sha256 = NAME.exec(key)?.[1];
      return sha256 === undefined ? [] : [{ sha256, sizeBytes, storedAt }];
    });
    return { objects, isLast: page.isLast };
  }

  /** All objects. */
  async *all(): AsyncGenerator<ListedObject> {
    for (let after: string | undefined; ; ) {
      const page = await this.list(after);
      yield* page.objects;
      after = page.objects.at(-1)?.sha256;
      if (page.isLast || after === undefined) return;
    }
  }

  /** Whether there is an object of this name. Unlike `head`, fails where there is no bucket. */
  async has(sha256: string): Promise<boolean> {
    const query = { "list-type": "2", prefix: this.keyOf(sha256), "max-keys": "1" };
    const { text } = await this.client.send({ method: "GET", query });
    return elementsOf(text, "Contents").some((entry) => textOf(entry, "Key") === this.keyOf(sha256));
  }

  /** Whether there is any file. */
  async hasAny({ patienceMs, answerMs }: Pick<S3Call, "patienceMs" | "answerMs"> = {}): Promise<boolean> {
    const query = { "list-type": "2", prefix: this.#folder, "max-keys": "1" };
    const { text } = await this.client.send({ method: "GET", query, patienceMs, answerMs });
    return elementsOf(text, "Contents").length > 0;
  }

  /** Gives up what was sent in parts and not completed for so long. @returns how many */
  abandonUploads(olderThanMs: number): Promise<number> {
    return this.#keyed.abandonUploads(this.#folder, olderThanMs);
  }
}
