import type { Clock, Random } from "../../domain/ports/runtime.ts";
import { readBounded } from "../../toolkit/bounded-body.ts";
import { type Deadline, DeadlineExceeded, startDeadline } from "../../toolkit/deadline.ts";
import { reasonOf } from "../../toolkit/system-error.ts";
import { addressOf, type Bucket, nameOf } from "./bucket.ts";
import { errorOf, mayPass, S3Error } from "./errors.ts";
import { EMPTY_SHA256, signed } from "./signing.ts";

export interface S3Call {
  readonly method: "GET" | "HEAD" | "PUT" | "POST" | "DELETE";
  /** Whole, with the prefix; absent: the bucket. */
  readonly key?: string | undefined;
  readonly query?: Readonly<Record<string, string>> | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: { readonly bytes: Uint8Array; readonly sha256: string } | undefined;
  /** Statuses that are answers and no errors, besides 200 to 299. */
  readonly answers?: readonly number[] | undefined;
  /** How long it is tried; as long as the client's unless given. */
  readonly patienceMs?: number | undefined;
  /** How long one try waits for its answer, besides the time that a body takes; as long as the client's unless given. */
  readonly answerMs?: number | undefined;
}

/** An answer to a request whose body is short, or nobody reads. */
export interface S3Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** An answer whose body is read piece by piece. */
export interface S3Body {
  readonly status: number;
  readonly headers: Headers;
  /** One that nobody reads is dropped after a while. */
  readonly pieces: AsyncIterable<Uint8Array>;
}

export interface ClientOptions {
  readonly bucket: Bucket;
  readonly clock: Pick<Clock, "now" | "elapsed" | "after">;
  readonly random: Random;
  /** How long a request is tried again after failures that may pass. */
  readonly patienceMs?: number | undefined;
  /** How long one try waits for its answer, besides the time that a body takes. */
  readonly answerMs?: number | undefined;
}

const PATIENCE_MS = 15_000;
const ANSWER_MS = 20_000;
/** A body may be sent as slowly as this. */
const BYTES_PER_MS = 100;
const FIRST_DELAY_MS = 100;
const LONGEST_DELAY_MS = 5_000;
/** A page of a list has a thousand entries of some 400 bytes. */
const ANSWER_BYTES = 4 * 1024 * 1024;
const MAX_SKEW_MS = 24 * 60 * 60 * 1000;
/** Services refuse signatures from a quarter of an hour on; answers tell whole seconds, and take a while. */
const LEAST_SKEW_MS = 14 * 60 * 1000;
const SKEWED = "<Code>RequestTimeTooSkewed</Code>";

/**
 * Sends signed requests to a bucket. What may pass is tried again with growing delays. Follows no redirect and uses no proxy.
 *
 * Bun's own client (1.4.5) can neither write on a condition nor send a checksum (https://github.com/oven-sh/bun/issues/17339,
 * checked 2026-11-23).
 */
export class S3Client {
  /** How far the service's clock is ahead of ours. */
  #aheadMs = 0;

  constructor(private readonly options: ClientOptions) {}

  get bucket(): Bucket {
    return this.options.bucket;
  }

  /** By the service's clock. */
  now(): number {
    return this.options.clock.now() + this.#aheadMs;
  }

  /** By this machine's clock. */
  localNow(): number {
    return this.options.clock.now();
  }

  /** Sends a request whose answer is short, again while its failure may pass. @throws S3Error */
  send(call: S3Call): Promise<S3Answer> {
    return this.persist(() => this.ask(call), call.patienceMs);
  }

  /** Sends a request once. `read` may refuse the answer with an S3Error. @throws S3Error */
  async ask(call: S3Call, read: (answer: S3Answer) => void = () => {}): Promise<S3Answer> {
    const deadline = this.#startDeadline(call);
    try {
      const response = await this.#request(call, deadline.signal);
      const { status, headers } = response;
      const answer = { status, headers, text: call.method === "HEAD" ? "" : await textOf(response) };
      read(answer);
      return answer;
    } catch (error) {
      throw this.#explain(error, call, deadline);
    } finally {
      deadline.end();
    }
  }

  /** Sends a request once whose answer is long. No piece of it may take longer than an answer. @throws S3Error, from the pieces too */
  async open(call: S3Call): Promise<S3Body> {
    const deadline = this.#startDeadline(call);
    const explain = (error: unknown) => this.#explain(error, call, deadline);
    try {
      const response = await this.#request(call, deadline.signal);
      const delayMs = this.options.answerMs ?? ANSWER_MS;
      const idle = { deadline, delayMs, what: "the rest did not come" };
      const bounds = { maxBytes: Number.MAX_SAFE_INTEGER, tooLarge: () => new Error("too large") };
      const pieces = readBounded(response, { ...bounds, idle, explain });
      return { status: response.status, headers: response.headers, pieces };
    } catch (error) {
      deadline.end();
      throw explain(error);
    }
  }

  /** Tries work again while its failure may pass and there is time. */
  async persist<T>(work: () => Promise<T>, patienceMs = this.options.patienceMs ?? PATIENCE_MS): Promise<T> {
    const { clock, random } = this.options;
    const startedAt = clock.elapsed();
    for (let tries = 0; ; tries += 1) {
      try {
        return await work();
      } catch (error) {
        const delayMs = Math.min(FIRST_DELAY_MS * 2 ** tries, LONGEST_DELAY_MS) * (0.5 + random());
        const isOver = clock.elapsed() - startedAt + delayMs > patienceMs;
        if (!(error instanceof S3Error) || !mayPass(error) || isOver) throw error;
        await this.pause(delayMs);
      }
    }
  }

  pause(delayMs: number): Promise<void> {
    return new Promise((resume) => void this.options.clock.after(delayMs, resume));
  }

  #startDeadline({ answerMs = this.options.answerMs ?? ANSWER_MS, body }: S3Call): Deadline {
    const deadline = startDeadline(this.options.clock, new AbortController().signal);
    deadline.phase(answerMs + (body?.bytes.length ?? 0) / BYTES_PER_MS, "no answer");
    return deadline;
  }

  /** @returns the answer with its body unread */
  async #request(call: S3Call, signal: AbortSignal): Promise<Response> {
    const { bucket } = this.options;
    const { method, key, query, headers = {}, body, answers = [] } = call;
    const url = addressOf(bucket, key, query);
    const unsigned = { method, url, headers, bodySha256: body?.sha256 ?? EMPTY_SHA256 };
    const sent = await signed(bucket, unsigned, this.now());
    const response = await fetch(url, {
      ...{ method, headers: sent, signal, redirect: "manual", decompress: false, proxy: false },
      // Nothing here shares memory with threads.
      ...(body !== undefined && { body: body.bytes as Uint8Array<ArrayBuffer> }),
    } as RequestInit);
    if (response.ok || answers.includes(response.status)) return response;
    const { status } = response;
    const text = await textOf(response);
    const isSkewed = this.#noteSkew(call, response, text);
    throw errorOf(bucket, `${method} ${url.pathname}`, {
      status,
      text: isSkewed && text === "" ? SKEWED : text,
    });
  }

  #explain(error: unknown, { method, key }: S3Call, { signal }: Deadline): unknown {
    if (error instanceof S3Error) return error;
    const doing = `${method} ${key ?? "of its list"}`;
    const where = `The bucket ${nameOf(this.bucket)}`;
    return signal.reason instanceof DeadlineExceeded
      ? new S3Error(`${where} did not answer ${doing} in time.`, "late", undefined, error)
      : new S3Error(`${where} did not answer ${doing}: ${reasonOf(error)}.`, "unreachable", undefined, error);
  }

  /**
   * Signatures are refused when the clocks differ by a quarter of an hour. The service's own is what counts. An answer to HEAD has no
   * body that says so, but a time. @returns whether that is why the request was refused
   */
  #noteSkew({ method }: S3Call, { status, headers }: Response, text: string): boolean {
    const skewMs = Date.parse(headers.get("date") ?? "") - this.options.clock.now();
    const isLikely = method === "HEAD" && status === 403 && Math.abs(skewMs - this.#aheadMs) > LEAST_SKEW_MS;
    const isSkewed = isLikely || text.includes("RequestTimeTooSkewed");
    if (isSkewed && Math.abs(skewMs) < MAX_SKEW_MS) this.#aheadMs = skewMs;
    return isSkewed;
  }
}

async function textOf(response: Response): Promise<string> {
  const pieces: Uint8Array[] = [];
  const tooLarge = () => new S3Error("The bucket's answer is too long.", "TooLong", response.status);
  for await (const piece of readBounded(response, { maxBytes: ANSWER_BYTES, tooLarge })) pieces.push(piece);
  return Buffer.concat(pieces).toString("utf8");
}
