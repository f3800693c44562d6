import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import type { Clock, Log } from "../../domain/ports/runtime.ts";
import { createSlots } from "../../toolkit/slots.ts";
import type { FileCache } from "../cache.ts";
import type { FileName } from "../content-files.ts";
import type { Draft } from "../drafts.ts";
import { readFully } from "../file-window.ts";
import type { FolderFiles } from "../fs.ts";
import { mayPass, S3Error } from "./errors.ts";
import type { Objects } from "./objects.ts";

/** The end of a file that is kept from its readers until the whole is found to be right. */
const HELD_BACK_BYTES = 64 * 1024;
const READ_BYTES = 256 * 1024;
/** Downloads at one time: the runtime has 256 requests under way at most, and providers are asked by them, too. */
const MOST_AT_ONCE = 32;
/** Failures in a row without a byte more, and for how long. */
const MAX_FAILURES = 5;
const PATIENCE_MS = 15_000;
const RETRY_MS = 100;

interface DownloadDeps {
  readonly objects: Objects;
  readonly local: FolderFiles;
  readonly cache: FileCache;
  readonly clock: Pick<Clock, "after" | "elapsed">;
  readonly log: Pick<Log, "error">;
  /** How long a download without a byte more is tried again. */
  readonly patienceMs?: number | undefined;
}

/** A file on its way here. */
class Download {
  /** Where it is when it is whole and right; undefined where there is none. */
  readonly whole: Promise<string | undefined>;
  readonly #hash = createHash("sha256");
  readonly #isThere = Promise.withResolvers<boolean>();
  #arrivedBytes = 0;
  #next = Promise.withResolvers<void>();

  constructor(
    private readonly deps: DownloadDeps,
    private readonly file: FileName,
    private readonly draft: Draft,
    /** Where it comes to. */
    private readonly path: string,
  ) {
    this.whole = this.#fetchWhole();
    // Those who wait for it get its failure.
    this.whole.catch(() => undefined);
    this.#isThere.promise.catch(() => undefined);
  }

  /** Whether there is such a file, as soon as that is known. */
  get isThere(): Promise<boolean> {
    return this.#isThere.promise;
  }

  /** The file while it arrives. */
  async *follow(): AsyncGenerator<Uint8Array> {
    const { sizeBytes } = this.file;
    // An open file stays readable when it moves to the cache.
    const handle = await open(this.path, "r").catch(async () => open((await this.whole) ?? "", "r"));
    let isWhole = false;
    const whole = this.whole.then((path) => {
      if (path === undefined) throw this.#gone();
      isWhole = true;
    });
    whole.catch(() => undefined);
    try {
      for (let at = 0; at < sizeBytes; ) {
        const { promise } = this.#next;
        const end = isWhole ? sizeBytes : this.#arrivedBytes - HELD_BACK_BYTES;
        if (at < end) {
          const piece = await readFully(handle, at, Math.min(READ_BYTES, end - at));
          yield piece;
          at += piece.length;
        } else await Promise.race([promise, whole]);
      }
    } finally {
      await handle.close();
    }
  }

  async #fetchWhole(): Promise<string | undefined> {
    const { local, cache } = this.deps;
    const { sha256, sizeBytes } = this.file;
    try {
      if (!(await this.#fetchBytes())) return undefined;
      const found = this.#hash.digest("hex");
      if (found !== sha256) this.#refuse(`SHA-256 ${found}`);
      return await local.handOver(this.draft, (path) => cache.add(sha256, sizeBytes, path));
    } catch (error) {
      this.#isThere.reject(error);
      throw error;
    } finally {
      this.#isThere.resolve(false);
      await local.discard(this.draft);
    }
  }

  /** Goes on where an answer was cut off. @returns whether there is such an object */
  async #fetchBytes(): Promise<boolean> {
    const { clock, patienceMs = PATIENCE_MS } = this.deps;
    let goodAtMs = clock.elapsed();
    for (let failures = 0; ; ) {
      const before = this.#arrivedBytes;
      try {
        return await this.#fetchRest();
      } catch (error) {
        const isFurther = this.#arrivedBytes > before;
        failures = isFurther ? 1 : failures + 1;
        if (isFurther) goodAtMs = clock.elapsed();
        const isOver = failures >= MAX_FAILURES || clock.elapsed() - goodAtMs >= patienceMs;
        if (!(error instanceof S3Error) || !mayPass(error) || isOver) throw error;
        await new Promise<void>((resume) => clock.after(RETRY_MS * 2 ** failures, resume));
      }
    }
  }

  async #fetchRest(): Promise<boolean> {
    const { objects } = this.deps;
    const { sha256, sizeBytes } = this.file;
    const answer = await objects.get(sha256, this.#arrivedBytes);
    if (answer === undefined) return false;
    const { status, headers, pieces } = answer;
    const length = headers.get("content-length");
    if (status === 200 && length !== null && Number(length) !== sizeBytes)
      this.#refuse(`${length} bytes`, "WrongSize");
    // A service that knows no ranges answers with all of it again.
    let known = status === 200 ? this.#arrivedBytes : 0;
    for await (const arrived of pieces) {
      const piece = arrived.subarray(Math.min(known, arrived.length));
      known -= arrived.length - piece.length;
      if (this.#arrivedBytes + piece.length > sizeBytes) this.#refuse("more bytes");
      await this.#take(piece);
    }
    if (this.#arrivedBytes === sizeBytes) return true;
    throw new S3Error(`The bucket's answer for ${objects.keyOf(sha256)} was cut off.`, "IncompleteBody");
  }

  async #take(piece: Uint8Array): Promise<void> {
    this.#hash.update(piece);
    await this.draft.append(piece);
    this.#arrivedBytes += piece.length;
    this.#isThere.resolve(true);
    const { resolve } = this.#next;
    this.#next = Promise.withResolvers();
    resolve();
  }

  /** Somebody removed the object after its first bytes had come. */
  #gone(): S3Error {
    const key = this.deps.objects.keyOf(this.file.sha256);
    return new S3Error(`The object ${key} is gone.`, "NoSuchKey", 404);
  }

  #refuse(found: string, code: "WrongBytes" | "WrongSize" = "WrongBytes"): never {
    const key = this.deps.objects.keyOf(this.file.sha256);
    this.deps.log.error({ key, found }, "the bucket answered with other bytes than it was given");
    throw new S3Error(`The bucket has other bytes at ${key}.`, code);
  }
}

/** Brings files from a bucket to the cache. All who ask for a file at one time share its download. */
export class Downloads {
  readonly #underWay = new Map<string, Promise<Download>>();
  readonly #slots = createSlots(MOST_AT_ONCE);

  constructor(private readonly deps: DownloadDeps) {}

  /** @returns the path of the whole file, found right; undefined where there is none. @throws S3Error, StorageError */
  async bring(file: FileName): Promise<string | undefined> {
    const begun = this.#begin(file);
    try {
      return await (await begun).whole;
    } catch (error) {
      if (!(error instanceof S3Error) || error.code !== "WrongBytes") throw error;
      // Bytes that changed on their way are right the second time; those in the bucket are not.
      this.#end(file, begun);
      return await (await this.#begin(file)).whole;
    }
  }

  /** The file while it arrives; undefined where there is none. Ends with an error, and never whole, where it is not what it should be. */
  async stream(file: FileName): Promise<ReadableStream<Uint8Array> | undefined> {
    const download = await this.#begin(file);
    if (!(await download.isThere)) return undefined;
    const pieces = download.follow();
    return new ReadableStream<Uint8Array>({
      async pull(controller) {
        const { done, value } = await pieces.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: async () => void (await pieces.return(undefined)),
    });
  }

  #begin(file: FileName): Promise<Download> {
    const known = this.#underWay.get(file.sha256);
    if (known !== undefined) return known;
    const begun = this.#start(file);
    this.#underWay.set(file.sha256, begun);
    const end = () => this.#end(file, begun);
    begun.then(({ whole }) => whole).then(end, end);
    return begun;
  }

  #end({ sha256 }: FileName, begun: Promise<Download>): void {
    if (this.#underWay.get(sha256) === begun) this.#underWay.delete(sha256);
  }

  /** Begins a download as soon as there is a place for it, which it keeps to its end. */
  #start(file: FileName): Promise<Download> {
    const { local } = this.deps;
    const { promise, resolve, reject } = Promise.withResolvers<Download>();
    const run = async () => {
      const draft = await local.draft();
      const download = new Download(this.deps, file, draft, local.pathOfDraft(draft) ?? "");
      resolve(download);
      await download.whole.catch(() => undefined);
    };
    this.#slots.run(run).catch(reject);
    return promise;
  }
}
