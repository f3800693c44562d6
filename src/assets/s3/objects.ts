import { createSlots } from "../../toolkit/slots.ts";
import type { S3Answer, S3Body, S3Client } from "./client.ts";
import { errorOf, S3Error } from "./errors.ts";
import { Multipart } from "./multipart.ts";
import {
  base64Of,
  type Lacks,
  ONLY_IF_NEW,
  objectHeaders,
  requireChecksum,
  requireSame,
  type Source,
  sha256Of,
  type WriteOptions,
  withoutLacks,
} from "./write.ts";
import { elementsOf, textOf } from "./xml.ts";

/** Five megabytes are the least that services take. */
const PART_BYTES = 16 * 1024 * 1024;
/** Parts and files in memory at one time, for the whole process. */
const BODIES_AT_ONCE = 4;

export interface ObjectFacts {
  readonly sizeBytes: number;
  /** Epoch milliseconds by the service's clock. */
  readonly storedAt: number;
}

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
  readonly #slots = createSlots(BODIES_AT_ONCE);
  readonly #lacks: Lacks = { checksum: false, condition: false };
  readonly #multipart: Multipart;
  readonly #folder: string;

  constructor(
    private readonly client: S3Client,
    /** Larger files are sent in parts of this size. */
    private readonly partBytes = PART_BYTES,
    /** Called before anything is changed. @throws where the bucket is another's */
    private readonly mayWrite: () => Promise<void> = async () => {},
  ) {
    this.#folder = `${client.bucket.prefix}sha256/`;
    this.#multipart = new Multipart({ client, partBytes, slots: this.#slots, lacks: this.#lacks });
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
      checksum: sizeBytes > this.partBytes ? undefined : checksum,
    };
  }

  /** Stores a file. @returns whether it did, or something was there */
  async put(source: Source, options: WriteOptions): Promise<"stored" | "there"> {
    await this.mayWrite();
    return await (source.sizeBytes > this.partBytes
      ? this.#multipart.put(this.keyOf(source.sha256), source, options)
      : this.#slots.run(() => this.#putWhole(source, options)));
  }

  /** By the service's clock. */
  now(): number {
    return this.client.now();
  }

  /** Makes an object as young as a new one. A service that cannot leaves it as old as it is. */
  async renew({ sha256, type }: { readonly sha256: string; readonly type: string }): Promise<void> {
    const key = this.keyOf(sha256);
    const copy = {
      "x-amz-copy-source": `/${this.client.bucket.name}/${key}`,
      "x-amz-metadata-directive": "REPLACE",
    };
    const headers = { ...objectHeaders({ type }), ...copy };
    await this.mayWrite();
    await this.client.persist(async () => {
      const { status, text } = await this.client.ask({ method: "PUT", key, headers, answers: [501] });
      // A failure while it is copied comes with status 200.
      if (status === 200 && text.includes("<Error>"))
        throw errorOf(this.client.bucket, `PUT ${key}`, { status: 500, text });
    });
  }

  /** The bytes of an object from here on, or all of them where `status` is 200. Undefined where there is none. */
  async get(sha256: string, from: number): Promise<S3Body | undefined> {
    const headers = from > 0 ? { range: `bytes=${from}-` } : {};
    try {
      return await this.client.open({ method: "GET", key: this.keyOf(sha256), headers });
    } catch (error) {
      if (error instanceof S3Error && error.status === 404 && error.code !== "NoSuchBucket") return undefined;
      throw error;
    }
  }

  async remove(sha256: string): Promise<void> {
    await this.mayWrite();
    await this.client.send({ method: "DELETE", key: this.keyOf(sha256), answers: [404] });
  }

  /** Up to 1000 objects in the order of their names, after this one. */
  async list(after?: string | undefined): Promise<{ objects: ListedObject[]; isLast: boolean }> {
    const start = after === undefined ? {} : { "start-after": this.keyOf(after) };
    const query = { "list-type": "2", prefix: this.#folder, ...start };
    const { text } = await this.client.send({ method: "GET", query });
    const objects = elementsOf(text, "Contents").flatMap(listed);
    return { objects, isLast: textOf(text, "IsTruncated") !== "true" };
  }

  /** Whether there is an object of this name. Unlike `head`, fails where there is no bucket. */
  async has(sha256: string): Promise<boolean> {
    const query = { "list-type": "2", prefix: this.keyOf(sha256), "max-keys": "1" };
    const { text } = await this.client.send({ method: "GET", query });
    return elementsOf(text, "Contents").some((entry) => textOf(entry, "Key") === this.keyOf(sha256));
  }

  /** Gives up what was sent in parts and not completed for so long. @returns how many */
  async abandonUploads(olderThanMs: number): Promise<number> {
    await this.mayWrite();
    return await this.#multipart.abandonUploads(this.#folder, olderThanMs);
  }

  async #putWhole(source: Source, { isNew, patienceMs }: WriteOptions): Promise<"stored" | "there"> {
    const bytes = await source.read(0, source.sizeBytes);
    requireSame(source, sha256Of(bytes));
    const checksum = base64Of(source.sha256);
    let mayReplace = !isNew;
    const check = ({ status, headers }: S3Answer) => {
      if (status === 412) return;
      const stored = headers.get("x-amz-checksum-sha256");
      // What was stored wrongly is replaced.
      mayReplace ||= stored !== null;
      requireChecksum(stored, checksum);
    };
    const put = () => {
      const headers = {
        ...objectHeaders(source),
        ...(!this.#lacks.checksum && { "x-amz-checksum-sha256": checksum }),
        ...(!mayReplace && !this.#lacks.condition && ONLY_IF_NEW),
      };
      const body = { bytes, sha256: source.sha256 };
      const call = { method: "PUT", key: this.keyOf(source.sha256), answers: [412], headers, body } as const;
      return this.client.ask(call, check);
    };
    const { status } = await withoutLacks(this.#lacks, () => this.client.persist(put, patienceMs));
    return status === 412 ? "there" : "stored";
  }
}

function listed(entry: string): ListedObject[] {
  const sha256 = NAME.exec(textOf(entry, "Key") ?? "")?.[1];
  if (sha256 === undefined) return [];
  const storedAt = Date.parse(textOf(entry, "LastModified") ?? "") || 0;
  return [{ sha256, sizeBytes: Number(textOf(entry, "Size") ?? -1), storedAt }];
}
