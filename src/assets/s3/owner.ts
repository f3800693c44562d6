import { isJsonObject } from "../../domain/json.ts";
import type { Clock } from "../../domain/ports/runtime.ts";
import { nameOf } from "./bucket.ts";
import type { S3Answer, S3Call, S3Client } from "./client.ts";
import { errorOf, S3Error } from "./errors.ts";
import { type Lacks, ONLY_IF_NEW, sha256Of, withoutLacks } from "./write.ts";
import { textOf } from "./xml.ts";

/** The object below a prefix that says which data folder stores there. */
export const OWNER = "owner.json";
/** What the id of a database that nodes share begins with. */
export const OF_DATABASE = "database_";
const FORMAT = "svc-owner";
/** For so long a service is not asked again. */
const KNOWN_MS = 60_000;

/** A data folder that stores below a prefix of a bucket. */
export interface Owner {
  /** The id of the data folder, which no copy of a backup has. */
  readonly folder: string;
  /** Where it was then, for people. */
  readonly host: string;
  readonly path: string;
}

/** What lies below the prefix belongs to another data folder: each of the two would remove what the other stores. */
export class BucketTaken extends S3Error {
  override readonly name = "BucketTaken";
  constructor(
    readonly owner: string,
    where: string,
    advice: string,
  ) {
    super(`What lies in the bucket ${where} belongs to ${owner}. ${advice}`, "BucketTaken");
  }
}

export interface OwnershipOptions {
  readonly client: S3Client;
  readonly me: Owner;
  readonly clock: Pick<Clock, "elapsed">;
  /** What to do where the bucket belongs to another data folder. */
  readonly advice: string;
}

/** How long the service is asked; as long as the client does unless given. */
type Haste = Pick<S3Call, "patienceMs" | "answerMs">;

/** What was read of the owner, and the tag of what was read. */
interface Found {
  readonly text: string;
  readonly tag: string;
}

/**
 * Ensures that only one data folder stores below a prefix. The first one writes its name there, on the condition that there is none
 * yet. With a service without conditional writes, the name is read again.
 */
export class Ownership {
  readonly #lacks: Lacks = { checksum: true, condition: false };
  #oursAt = Number.NEGATIVE_INFINITY;
  #asking: Promise<void> | undefined;

  constructor(private readonly options: OwnershipOptions) {}

  /**
   * Makes sure that the prefix is ours, and takes it where it is nobody's. What was seen a minute ago is not looked at again.
   *
   * @throws BucketTaken; S3Error where the bucket does not answer
   */
  async require(haste?: Haste): Promise<void> {
    const { clock } = this.options;
    if (clock.elapsed() - this.#oursAt < KNOWN_MS) return;
    this.#asking ??= this.#settle(haste).finally(() => {
      this.#asking = undefined;
    });
    await this.#asking;
  }

  /** The owner of the prefix, in words; undefined if there is none, or only this data folder. @throws S3Error */
  async other(haste?: Haste): Promise<string | undefined> {
    const found = await this.#read(haste);
    return found === undefined || folderOf(found.text) === this.options.me.folder
      ? undefined
      : tell(found.text);
  }

  /**
   * Takes the prefix even if another folder owns it. @returns the previous owner, in words. @throws S3Error; BucketTaken where
   * another took it at the same time
   */
  async take(): Promise<string | undefined> {
    const found = await this.#read();
    if (found !== undefined && folderOf(found.text) === this.options.me.folder) return undefined;
    await this.#write(found === undefined ? ONLY_IF_NEW : { "if-match": found.tag });
    await this.#requireOurs();
    return found && tell(found.text);
  }

  async #settle(haste: Haste | undefined): Promise<void> {
    const found = await this.#read(haste);
    if (found === undefined) await this.#write(ONLY_IF_NEW, haste);
    await this.#requireOurs(found ?? (await this.#read(haste)));
  }

  async #requireOurs(given?: Found): Promise<void> {
    const { client, clock, me, advice } = this.options;
    const at = clock.elapsed();
    const text = (given ?? (await this.#read()))?.text ?? "";
    if (folderOf(text) !== me.folder) throw new BucketTaken(tell(text), nameOf(client.bucket), advice);
    this.#oursAt = at;
  }

  async #read(haste?: Haste): Promise<Found | undefined> {
    const call: S3Call = { method: "GET", key: this.#key(), answers: [404], ...haste };
    const { status, headers, text } = await this.options.client.send(call);
    if (status === 404 && textOf(text, "Code") === "NoSuchBucket")
      throw errorOf(this.options.client.bucket, `GET ${this.#key()}`, { status, text });
    return status === 404 ? undefined : { text, tag: headers.get("etag") ?? "" };
  }

  /** Writes our name under a condition. That it did not hold is seen when it is read again. */
  async #write(condition: Readonly<Record<string, string>>, haste?: Haste): Promise<S3Answer> {
    const { client, me } = this.options;
    const at = new Date(client.now()).toISOString();
    const bytes = Buffer.from(`${JSON.stringify({ format: FORMAT, ...me, at })}\n`);
    const body = { bytes, sha256: sha256Of(bytes) };
    return await withoutLacks(this.#lacks, () => {
      const headers = { "content-type": "application/json", ...(!this.#lacks.condition && condition) };
      return client.send({ method: "PUT", key: this.#key(), headers, body, answers: [412], ...haste });
    });
  }

  #key(): string {
    return `${this.options.client.bucket.prefix}${OWNER}`;
  }
}

function fieldsOf(text: string) {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) && value.format === FORMAT ? value : undefined;
  } catch {
    return undefined;
  }
}

function folderOf(text: string): string | undefined {
  const folder = fieldsOf(text)?.folder;
  return typeof folder === "string" ? folder : undefined;
}

function tell(text: string): string {
  const { path, host, at, folder } = fieldsOf(text) ?? {};
  if (typeof path !== "string" || typeof host !== "string") return `another program, by its ${OWNER}`;
  const kind = String(folder).startsWith(OF_DATABASE) ? "database" : "data folder";
  return `the ${kind} ${path} of the host ${host}${typeof at === "string" ? `, since ${at}` : ""}`;
}
