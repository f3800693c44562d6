import { AppError } from "../../domain/errors.ts";

const CR = 0x0d;

/** The time, for senders that take too much of it. */
export interface Pace {
  /** Milliseconds on a clock that never jumps. */
  readonly elapsed: () => number;
  readonly after: (delayMs: number, callback: () => void) => () => void;
}

/** Before a sender has to keep the least pace: it holds a place that others wait for. */
const GRACE_MS = 10_000;
const LEAST_BYTES_PER_MS = 16;

/**
 * A body read piece by piece, up to marks in it. It is only read when more is asked for: Bun then stops reading from the
 * connection, and what waits there is the sender's.
 *
 * Every mark starts with CR.
 */
export function openBody(stream: ReadableStream<Uint8Array>, maxTotalBytes: number, pace: Pace) {
  const reader = stream.getReader();
  let totalBytes = 0;
  /** Time spent waiting for the sender; what is done with the pieces does not count. */
  let waitedMs = 0;
  // A mark starts with the end of a line, and the body may start with a mark.
  let buffered: Buffer = Buffer.from("\r\n");

  /** @throws AppError when there is no more, or too much */
  async function readMore(): Promise<void> {
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
        throw new AppError("invalid_request", { kind: "body_unfinished" }, {}, error);
      })
      .finally(cancelTimer);
    waitedMs += pace.elapsed() - since;
    if (isTooSlow) {
      throw new AppError("invalid_request", { kind: "upload_too_slow" });
    }
    if (done) throw new AppError("invalid_request", { kind: "form_unended" });
    totalBytes += value.length;
    if (totalBytes > maxTotalBytes) throw bodyTooLarge(maxTotalBytes);
    const chunk = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    buffered = buffered.length === 0 ? chunk : Buffer.concat([buffered, chunk]);
  }

  function take(length: number): Buffer {
    const taken = buffered.subarray(0, length);
    buffered = buffered.subarray(length);
    return taken;
  }

  /** The next piece of what comes before the mark; undefined once that is all, and the mark behind it was read. */
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

  /** All that comes before the mark, and the mark is read; undefined when that is more than `maxBytes`. */
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

  /** Whether these bytes come next. They are not read. */
  async function startsWith(bytes: Buffer): Promise<boolean> {
    while (buffered.length < bytes.length) await readMore();
    return buffered.subarray(0, bytes.length).equals(bytes);
  }

  return { pieceBefore, allBefore, startsWith, cancel: () => reader.cancel() };
}

export type Body = ReturnType<typeof openBody>;

export function bodyTooLarge(maxTotalBytes: number): AppError {
  return new AppError("request_too_large", { kind: "body_too_large", most: maxTotalBytes });
}

/** How much of the mark the bytes end with: what comes next may be the rest of it. */
function startedLength(bytes: Buffer, mark: Buffer): number {
  const tail = bytes.subarray(Math.max(0, bytes.length - mark.length + 1));
  for (let at = tail.indexOf(CR); at !== -1; at = tail.indexOf(CR, at + 1)) {
    const started = tail.subarray(at);
    if (mark.subarray(0, started.length).equals(started)) return started.length;
  }
  return 0;
}
