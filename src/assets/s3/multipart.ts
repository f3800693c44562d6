import { createHash } from "node:crypto";
import type { Slots } from "../../toolkit/slots.ts";
import type { S3Client } from "./client.ts";
import { errorOf, S3Error } from "./errors.ts";
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
import { elementsOf, escaped, textOf } from "./xml.ts";

/** A part that the service has. */
interface Part {
  readonly tag: string;
  readonly sha256: string;
}

/** A file on its way, in parts. */
interface Upload {
  readonly key: string;
  readonly id: string;
  readonly source: Source;
  readonly patienceMs: number | undefined;
}

/** Parts of one file on their way at one time. */
const PARTS_OF_ONE = 2;
/** More are refused (https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html, checked 2026-11-23). */
const MOST_PARTS = 10_000;
/** Joining the parts of a large file takes a while. */
const JOIN_MS = 120_000;
/** How long giving up an upload is tried. Whatever is left, `abandonUploads` finds. */
const ABORT_PATIENCE_MS = 2_000;

/** Sends large files in parts. Either the whole object is there afterwards, or none. */
export class Multipart {
  /** Ids of uploads that go on here. However long they take, nobody here gives them up. */
  readonly #underWay = new Set<string>();

  constructor(
    private readonly deps: {
      readonly client: S3Client;
      readonly partBytes: number;
      readonly slots: Slots;
      readonly lacks: Lacks;
    },
  ) {}

  async put(key: string, source: Source, { isNew, patienceMs }: WriteOptions): Promise<"stored" | "there"> {
    const id = await this.#begin(key, source, patienceMs);
    const upload = { key, source, patienceMs, id };
    let isOver = false;
    this.#underWay.add(id);
    try {
      const outcome = await this.#join(upload, await this.#sendParts(upload), isNew);
      isOver = outcome !== "there";
      if (outcome !== "unknown") return outcome;
      if (await this.#isWhole(upload)) return "stored";
      throw new S3Error(`The upload of ${key} was given up by somebody else.`, "NoSuchUpload", 404);
    } finally {
      if (!isOver) await this.#abort(upload).catch(() => undefined);
      this.#underWay.delete(id);
    }
  }

  /** @returns how many */
  async abandonUploads(prefix: string, olderThanMs: number): Promise<number> {
    const { client } = this.deps;
    let count = 0;
    for (let after: Readonly<Record<string, string>> | undefined = {}; after !== undefined; ) {
      const { text } = await client.send({ method: "GET", query: { uploads: "", prefix, ...after } });
      for (const upload of elementsOf(text, "Upload")) {
        const [key, id] = [textOf(upload, "Key") ?? "", textOf(upload, "UploadId")];
        const begunAt = Date.parse(textOf(upload, "Initiated") ?? "");
        const isOld = client.now() - begunAt >= olderThanMs;
        if (id === undefined || this.#underWay.has(id) || !key.startsWith(prefix) || !isOld) continue;
        await this.#abort({ key, id });
        count += 1;
      }
      after = nextPage(text);
    }
    return count;
  }

  async #begin(key: string, source: Source, patienceMs: number | undefined): Promise<string> {
    const { client, lacks } = this.deps;
    const { text } = await withoutLacks(lacks, () => {
      const checksums = lacks.checksum ? {} : { "x-amz-checksum-algorithm": "SHA256" };
      const headers = { ...objectHeaders(source), ...checksums };
      return client.send({ method: "POST", key, query: { uploads: "" }, headers, patienceMs });
    });
    const id = textOf(text, "UploadId");
    if (id === undefined) throw new S3Error("The bucket began an upload without an id.", "NoUploadId");
    return id;
  }

  /** Sends all parts. When it ends, none is on its way any more: one that came after the upload was given up would stay. */
  async #sendParts(upload: Upload): Promise<Part[]> {
    const parts: Promise<Part>[] = [];
    try {
      await this.#startParts(upload, parts);
      return await Promise.all(parts);
    } finally {
      await Promise.allSettled(parts);
    }
  }

  /** Reads the parts in their order, to see on the way that the file is what it was, and no faster than they are sent. */
  async #startParts(upload: Upload, parts: Promise<Part>[]): Promise<void> {
    const { slots } = this.deps;
    const { sizeBytes } = upload.source;
    const partBytes = Math.max(this.deps.partBytes, Math.ceil(sizeBytes / MOST_PARTS));
    const whole = createHash("sha256");
    for (let at = 0; at < sizeBytes; at += partBytes) {
      const number = parts.length + 1;
      const read = Promise.withResolvers<void>();
      const part = slots.run(async () => {
        const length = Math.min(partBytes, sizeBytes - at);
        const bytes = await upload.source.read(at, length).finally(read.resolve);
        whole.update(bytes);
        return this.#sendPart(upload, number, bytes);
      });
      // Its failure is thrown by whoever waits for all.
      part.catch(() => undefined);
      parts.push(part);
      await read.promise;
      await parts.at(-1 - PARTS_OF_ONE);
    }
    requireSame(upload.source, whole.digest("hex"));
  }

  async #sendPart({ key, id, patienceMs }: Upload, number: number, bytes: Uint8Array): Promise<Part> {
    const { client, lacks } = this.deps;
    const sha256 = sha256Of(bytes);
    const checksum = base64Of(sha256);
    const query = { partNumber: String(number), uploadId: id };
    const send = () => {
      const headers = lacks.checksum ? {} : { "x-amz-checksum-sha256": checksum };
      const call = { method: "PUT", key, query, headers, body: { bytes, sha256 } } as const;
      return client.ask(call, (answer) =>
        requireChecksum(answer.headers.get("x-amz-checksum-sha256"), checksum),
      );
    };
    const { headers } = await withoutLacks(lacks, () => client.persist(send, patienceMs));
    return { tag: headers.get("etag") ?? "", sha256 };
  }

  async #join(
    { key, id, patienceMs }: Upload,
    parts: readonly Part[],
    isNew: boolean,
  ): Promise<"stored" | "there" | "unknown"> {
    const { client, lacks } = this.deps;
    const bytes = Buffer.from(describe(parts, !lacks.checksum));
    const body = { bytes, sha256: sha256Of(bytes) };
    const ask = async () => {
      const headers = { "content-type": "application/xml", ...(isNew && !lacks.condition && ONLY_IF_NEW) };
      const call = {
        method: "POST",
        key,
        query: { uploadId: id },
        headers,
        body,
        answers: [404, 412],
      } as const;
      const answer = await client.ask({ ...call, answerMs: JOIN_MS });
      const { status, text } = answer;
      // A failure while the parts are joined comes with status 200.
      if (status === 200 && text.includes("<Error>"))
        throw errorOf(client.bucket, `POST ${key}`, { status: 500, text });
      if (status === 404 && textOf(text, "Code") !== "NoSuchUpload")
        throw errorOf(client.bucket, `POST ${key}`, answer);
      return answer;
    };
    const { status, text } = await withoutLacks(lacks, () => client.persist(ask, patienceMs));
    if (status === 412) return "there";
    // Either an earlier try was answered and the answer lost, or somebody gave the upload up.
    if (status === 404) return "unknown";
    // Not every service adds the number of parts.
    requireChecksum(textOf(text, "ChecksumSHA256")?.replace(/-\d+$/, ""), checksumOf(parts));
    return "stored";
  }

  async #isWhole({ key, source }: Upload): Promise<boolean> {
    const { status, headers } = await this.deps.client.send({ method: "HEAD", key, answers: [404] });
    return status === 200 && Number(headers.get("content-length")) === source.sizeBytes;
  }

  async #abort({ key, id }: Pick<Upload, "key" | "id">): Promise<void> {
    const call = { method: "DELETE", key, query: { uploadId: id }, answers: [404] } as const;
    await this.deps.client.send({ ...call, patienceMs: ABORT_PATIENCE_MS });
  }
}

/** Where a list of uploads goes on; undefined at its end. */
function nextPage(text: string): Record<string, string> | undefined {
  const [key, id] = [textOf(text, "NextKeyMarker"), textOf(text, "NextUploadIdMarker")];
  if (textOf(text, "IsTruncated") !== "true" || key === undefined) return undefined;
  return { "key-marker": key, ...(id !== undefined && { "upload-id-marker": id }) };
}

function describe(parts: readonly Part[], hasChecksums: boolean): string {
  const each = parts.map(({ tag, sha256 }, index) => {
    const checksum = hasChecksums ? `<ChecksumSHA256>${base64Of(sha256)}</ChecksumSHA256>` : "";
    return `<Part><PartNumber>${index + 1}</PartNumber><ETag>${escaped(tag)}</ETag>${checksum}</Part>`;
  });
  return `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${each.join("")}</CompleteMultipartUpload>`;
}

/**
 * The checksum of an object that came in parts
 * (https://docs.aws.amazon.com/AmazonS3/latest/userguide/checking-object-integrity-upload.html, checked 2026-11-23).

 */
function checksumOf(parts: readonly Part[]): string {
  const hash = createHash("sha256");
  for (const { sha256 } of parts) hash.update(Buffer.from(sha256, "hex"));
  return hash.digest("base64");
}
