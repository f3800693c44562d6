import { AppError, invalid } from "../../domain/errors.ts";

const CR = 0x0d;

/** The clock that slow senders are measured by. */
export interface Pace {
  /** Milliseconds on a clock that never jumps. */
  readonly elapsed: () => number;
  readonly after: (delayMs: number, run: () => void) => () => void;
}

/** How long a sender may be slower than the minimum pace. It holds a place that others wait for. */
const GRACE_MS = 10_000;
const LEAST_BYTES_PER_MS = 16;

/** Reads chunks. `next` throws an AppError when there is none, or too much, or it comes too slowly. */
function openChunks(stream: ReadableStream<Uint8Array>, maxTotalBytes: number, pace: Pace) {
  const reader = stream.getReader();
  let totalBytes = 0;
  /** Time spent waiting for the sender; what is done with the chunks does not count. */
  let waitedMs = 0;
  async function next(): Promise<Buffer> {
    const since = pace.elapsed();
    let isTooSlow = false;
    const leftMs = GRACE_MS + totalBytes / LEAST_BYTES_PER_MS - waitedMs;
    const cancelTimer = pace.after(Math.max(0, leftMs), () => {
      isTooSlow = true;
      reader.cancel().catch(() => undefined);
    });
    const { done, value } = await reader
      .read()
      .catch((error: unknown) => {
        throw invalid({ kind: "body_unfinished" }, error);
      })
      .finally(cancelTimer);
    waitedMs += pace.elapsed() - since;
    if (isTooSlow) throw invalid({ kind: "upload_too_slow" });
    if (done) throw invalid({ kind: "form_unended" });
    totalBytes += value.length;
    if (totalBytes > maxTotalBytes) throw bodyTooLarge(maxTotalBytes);
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  }
  return { next, cancel: () => reader.cancel() };
}

/**
 * Reads a body piece by piece, up to marks in it. It reads only on demand. In between, Bun stops reading from the connection, so
 * that the sender waits.
 *
 * Every mark starts with CR.
 */
export function openBody(stream: ReadableStream<Uint8Array>, maxTotalBytes: number, pace: Pace) {
  const chunks = openChunks(stream, maxTotalBytes, pace);
  // A mark starts with the end of a line, and the body may start with a mark.
  let buffered: Buffer = Buffer.from("\r\n");

  async function readMore(): Promise<void> {
    const chunk = await chunks.next();
    buffered = buffered.length === 0 ? chunk : Buffer.concat([buffered, chunk]);
  }

  function take(length: number): Buffer {
    const taken = buffered.subarray(0, length);
    buffered = buffered.subarray(length);
    return taken;
  }

  /** The next piece before the mark; undefined at the mark, which is then read too. */
  async function pieceBefore(mark: Buffer): Promise<Uint8Array | undefined> {
    for (;;) {
      const at = buffered.indexOf(mark);
      if (at === 0) {
        take(mark.length);
        return undefined;
      }
      const length = at === -1 ? buffered.length - startedLength(buffered, mark) : at;
      if (length > 0) return take(length);
      await readMore();
    }
  }

  /** Everything before the mark, which is read too; undefined when it is longer than `maxBytes`. */
  async function allBefore(mark: Buffer, maxBytes: number): Promise<Uint8Array | undefined> {
    const pieces: Uint8Array[] = [];
    let sizeBytes = 0;
    for (;;) {
      const piece = await pieceBefore(mark);
      if (piece === undefined) return pieces.length === 1 ? pieces[0] : Buffer.concat(pieces);
      sizeBytes += piece.length;
      if (sizeBytes > maxBytes) return undefined;
      pieces.push(piece);
    }
  }

  /** Whether these bytes come next. Does not read them. */
  async function startsWith(bytes: Buffer): Promise<boolean> {
    while (buffered.length < bytes.length) await readMore();
    return buffered.subarray(0, bytes.length).equals(bytes);
  }

  return { pieceBefore, allBefore, startsWith, cancel: chunks.cancel };
}

export type Body = ReturnType<typeof openBody>;

export function bodyTooLarge(maxTotalBytes: number): AppError {
  return new AppError("request_too_large", { kind: "body_too_large", most: maxTotalBytes });
}

/** How many bytes of the mark's beginning the bytes end with; the rest may follow. */
function startedLength(bytes: Buffer, mark: Buffer): number {
  const tail = bytes.subarray(Math.max(0, bytes.length - mark.length + 1));
  for (let at = tail.indexOf(CR); at !== -1; at = tail.indexOf(CR, at + 1)) {
    const started = tail.subarray(at);
    if (mark.subarray(0, started.length).equals(started)) return started.length;
  }
  return 0;
}
