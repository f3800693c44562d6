import { EXIT } from "../exit-codes.ts";
import { Failure, unexpectedAnswer } from "../failure.ts";
import { backoffMs, interrupted, type Timing } from "./retry.ts";

/** The part of a file that is still missing. */
export interface Part {
  /** How many bytes are here already. */
  readonly from: number;
  /** The version that those belong to. */
  readonly etag: string | undefined;
  /** Aborted when the answer falls silent. */
  readonly signal: AbortSignal;
}

/** Takes the bytes of a file in order. What it throws ends the transfer. */
export interface ByteSink {
  write(bytes: Uint8Array): Promise<void>;
  /** Drops what was written: the file begins again. */
  restart(): Promise<void>;
}

export interface Transferred {
  readonly sizeBytes: number;
  /** Hexadecimal. */
  readonly sha256: string;
  /** As the server says it. */
  readonly contentType: string | undefined;
}

export interface TransferOptions {
  /** Requests the file, or the rest of it. @throws Failure */
  readonly fetchPart: (part: Part) => Promise<Response>;
  readonly url: string;
  readonly sink: ByteSink;
  readonly timing: Timing;
  readonly signal: AbortSignal;
  /** Silence after which a connection counts as lost. */
  readonly silenceMs?: number | undefined;
}

const SILENCE_MS = 30_000;
/** Lost connections in a row that brought nothing. */
const MAX_IN_VAIN = 5;

/**
 * Fetches a file. Resumes after a lost connection with `Range` and `If-Range`, and starts over if the server cannot resume. The
 * complete file is compared with the SHA-256 in svc's ETags.
 *
 * @throws Failure if the file cannot be fetched completely, and whatever the sink throws
 */
export async function transfer(options: TransferOptions): Promise<Transferred> {
  for (let isAgain = false; ; isAgain = true) {
    const { etag, ...got } = await receive(options);
    const [, promised] = /^"([0-9a-f]{64})"$/.exec(etag ?? "") ?? [];
    if (promised === undefined || promised === got.sha256) return got;
    if (isAgain) throw damaged(options.url);
    await options.sink.restart();
  }
}

export function damaged(url: string): Failure {
  return new Failure(EXIT.error, "download_damaged", `${url} arrived damaged: its hash is another one.`);
}

async function receive({ fetchPart, url, sink, timing, signal, silenceMs = SILENCE_MS }: TransferOptions) {
  let hash = new Bun.CryptoHasher("sha256");
  let etag: string | undefined;
  let sizeBytes = 0;
  let inVain = 0;
  for (;;) {
    const watch = createWatch(silenceMs);
    const before = sizeBytes;
    const response = await fetchPart({ from: sizeBytes, etag, signal: watch.signal }).catch(
      async (error: unknown) => {
        if (!mayPass(error) || ++inVain === MAX_IN_VAIN) throw error;
        await timing.sleep(backoffMs(inVain, timing.random()), signal);
      },
    );
    if (response === undefined) continue;
    if (response.status !== 206 && sizeBytes > 0) {
      await sink.restart();
      hash = new Bun.CryptoHasher("sha256");
      sizeBytes = 0;
    } else if (startOf(response) !== sizeBytes) {
      throw unexpectedAnswer(`${url} answers with another part than was asked for.`);
    }
    etag = response.headers.get("etag") ?? undefined;
    const expected = lengthOf(response, sizeBytes);
    const isWhole = await read(response, watch, async (bytes) => {
      await sink.write(bytes);
      hash.update(bytes);
      sizeBytes += bytes.length;
    });
    if (expected === undefined ? isWhole : sizeBytes === expected) {
      const contentType = response.headers.get("content-type")?.split(";")[0]?.trim();
      return { sizeBytes, sha256: hash.digest("hex"), contentType, etag };
    }
    if (signal.aborted) throw interrupted();
    inVain = sizeBytes > before ? 0 : inVain + 1;
    if (inVain === MAX_IN_VAIN) throw cutOff(url, sizeBytes, expected);
    await timing.sleep(backoffMs(inVain + 1, timing.random()), signal);
  }
}

/** A server that restarts is back within seconds. */
function mayPass(error: unknown): boolean {
  const { exitCode } = error instanceof Failure ? error : {};
  return exitCode === EXIT.unreachable || exitCode === EXIT.overloaded;
}

/** @returns whether the answer ended properly, rather than being cut */
async function read(
  response: Response,
  watch: ReturnType<typeof createWatch>,
  take: (bytes: Uint8Array) => Promise<void>,
): Promise<boolean> {
  if (response.body === null) return true;
  const reader = response.body.getReader();
  try {
    for (;;) {
      watch.start();
      const chunk = await reader.read().catch(() => undefined);
      watch.stop();
      if (chunk === undefined) return false;
      if (chunk.done) return true;
      await take(chunk.value);
    }
  } finally {
    watch.stop();
    await reader.cancel().catch(() => undefined);
  }
}

/** Aborts an answer that is silent for too long. */
function createWatch(silenceMs: number) {
  const controller = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stop = () => clearTimeout(timer);
  return {
    signal: controller.signal,
    start() {
      stop();
      timer = setTimeout(() => controller.abort(), silenceMs);
    },
    stop,
  };
}

/** The position of the answer's first byte in the file. */
function startOf(response: Response): number | undefined {
  if (response.status !== 206) return 0;
  const [, start] = /^bytes (\d+)-/.exec(response.headers.get("content-range") ?? "") ?? [];
  return start === undefined ? undefined : Number(start);
}

/** How many bytes the file has; undefined when the answer does not tell. */
function lengthOf({ headers }: Response, from: number): number | undefined {
  const length = headers.get("content-length");
  return length === null || headers.has("content-encoding") ? undefined : from + Number(length);
}

function cutOff(url: string, sizeBytes: number, expected: number | undefined): Failure {
  const of = expected === undefined ? "" : ` of ${expected}`;
  return new Failure(EXIT.unreachable, "download_cut", `${url} was cut off after ${sizeBytes}${of} bytes.`);
}
