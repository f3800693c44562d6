import { createSlots } from "../../toolkit/slots.ts";
import { nameOf } from "./bucket.ts";
import type { S3Answer, S3Body, S3Client } from "./client.ts";
import { mayPass, S3Error } from "./errors.ts";
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
/** Failures in a row without a byte more. */
const MAX_FAILURES = 5;
const RETRY_MS = 200;

export interface ObjectFacts {
  readonly sizeBytes: number;
  /** Epoch milliseconds by the service's clock. */
  readonly storedAt: number;
}

/** An object as a list has it. */
export interface KeyedObject extends ObjectFacts {
  readonly key: string;
}

/** Objects of a bucket by their keys, each written whole or not at all, with checksums both ways. Every method throws S3Error. */
export class KeyedObjects {
  readonly #slots = createSlots(BODIES_AT_ONCE);
  readonly #lacks: Lacks = { checksum: false, condition: false };
  readonly #multipart: Multipart;

  constructor(
    private readonly client: S3Client,
    /** Larger objects are sent in parts of this size. */
    readonly partBytes = PART_BYTES,
    /** Called before anything is changed. @throws where the bucket is another's */
    readonly mayWrite: () => Promise<void> = async () => {},
  ) {
    this.#multipart = new Multipart({ client, partBytes, slots: this.#slots, lacks: this.#lacks });
  }

  /** @returns whether it was stored, or something was there */
  async put(key: string, source: Source, options: WriteOptions): Promise<"stored" | "there"> {
    // As patient as the write itself: there may be no other copy.
    await this.client.persist(() => this.mayWrite(), options.patienceMs);
    return await (source.sizeBytes > this.partBytes
      ? this.#multipart.put(key, source, options)
      : this.#slots.run(() => this.#putWhole(key, source, options)));
  }

  /** The bytes of an object from here on, or all of them where `status` is 200. Undefined where there is none. */
  async get(key: string, from = 0): Promise<S3Body | undefined> {
    const headers = from > 0 ? { range: `bytes=${from}-` } : {};
    try {
      return await this.client.open({ method: "GET", key, headers });
    } catch (error) {
      if (error instanceof S3Error && error.status === 404 && error.code !== "NoSuchBucket") return undefined;
      throw error;
    }
  }

  /**
   * All bytes of an object. What is cut off goes on where it was. Bytes are not compared with anything.
   * @param known its size; unless given, what the service says of it
   * @throws S3Error `NoSuchKey` where there is none
   */
  async *read(key: string, known?: number): AsyncGenerator<Uint8Array> {
    let sizeBytes = known;
    let arrived = 0;
    for (let failures = 0; ; ) {
      const before = arrived;
      try {
        const answer = await this.get(key, arrived);
        if (answer === undefined) throw new S3Error(`There is no object ${key}.`, "NoSuchKey", 404);
        sizeBytes ??= arrived === 0 ? lengthOf(answer) : undefined;
        // A service that knows no ranges answers with all of it again.
        let again = answer.status === 200 ? arrived : 0;
        for await (const given of answer.pieces) {
          const piece = given.subarray(Math.min(again, given.length));
          again -= given.length - piece.length;
          arrived += piece.length;
          if (sizeBytes !== undefined && arrived > sizeBytes)
            throw new S3Error(`The object ${key} has more bytes.`, "WrongSize");
          yield piece;
        }
        if (sizeBytes === undefined || arrived === sizeBytes) return;
        throw new S3Error(`The bucket's answer for ${key} was cut off.`, "IncompleteBody");
      } catch (error) {
        failures = arrived > before ? 1 : failures + 1;
        if (!(error instanceof S3Error) || !mayPass(error) || failures >= MAX_FAILURES) throw error;
        await this.client.pause(RETRY_MS * 2 ** failures);
      }
    }
  }

  async remove(key: string): Promise<void> {
    await this.mayWrite();
    await this.client.send({ method: "DELETE", key, answers: [404] });
  }

  /** Up to 1000 objects whose keys begin like this, in the order of their keys, after this one. */
  async list(
    prefix: string,
    after?: string | undefined,
  ): Promise<{ objects: KeyedObject[]; isLast: boolean }> {
    const start = after === undefined ? {} : { "start-after": after };
    const { text } = await this.client.send({ method: "GET", query: { "list-type": "2", prefix, ...start } });
    const objects = elementsOf(text, "Contents").map((entry) => ({
      key: textOf(entry, "Key") ?? "",
      sizeBytes: Number(textOf(entry, "Size") ?? -1),
      storedAt: Date.parse(textOf(entry, "LastModified") ?? "") || 0,
    }));
    const first = objects[0];
    // Such as directory buckets of S3. A list that begins anew each time would never end.
    if (after !== undefined && first !== undefined && first.key <= after)
      throw new S3Error(
        `The service of ${nameOf(this.client.bucket)} lists objects from the first one again, whatever \`start-after\` says. Use another service.`,
        "NotInOrder",
      );
    return { objects, isLast: textOf(text, "IsTruncated") !== "true" };
  }

  /** All objects whose keys begin like this. */
  async *all(prefix: string): AsyncGenerator<KeyedObject> {
    for (let after: string | undefined; ; ) {
      const page = await this.list(prefix, after);
      yield* page.objects;
      after = page.objects.at(-1)?.key;
      if (page.isLast || after === undefined) return;
    }
  }

  /** Gives up what was sent in parts and not completed for so long. @returns how many */
  async abandonUploads(prefix: string, olderThanMs: number): Promise<number> {
    await this.mayWrite();
    return await this.#multipart.abandonUploads(prefix, olderThanMs);
  }

  async #putWhole(
    key: string,
    source: Source,
    { isNew, patienceMs }: WriteOptions,
  ): Promise<"stored" | "there"> {
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
      return this.client.ask({ method: "PUT", key, answers: [412], headers, body }, check);
    };
    const { status } = await withoutLacks(this.#lacks, () => this.client.persist(put, patienceMs));
    return status === 412 ? "there" : "stored";
  }
}

/** How long a body is, as far as the service says it. */
function lengthOf({ headers }: S3Body): number | undefined {
  const length = headers.get("content-length");
  return length === null ? undefined : Number(length);
}
