import { AppError } from "../../domain/errors.ts";

/**
 * What one upload holds in memory at most, whatever its size: what Bun read ahead and handed over, and what is not yet
 * collected of it. Measured with fast senders (Bun 1.4.5).
 */
const HELD_BYTES = 4 * 1024 * 1024;
const RETRY_AFTER_SEC = 5;

export interface UploadGateOptions {
  /** Memory for all uploads that are being read. */
  readonly bytesAtOnce: number;
  /** Uploads that may wait for it. Of a body that nobody reads, Bun holds about 1.5 MB (1.4.5). */
  readonly maxWaiting: number;
}

/** Lets as many uploads be read at once as there is memory for; the others wait unread, in the order they came. */
export function createUploadGate(options: UploadGateOptions) {
  let freeBytes = options.bytesAtOnce;
  const waiting: { readonly bytes: number; readonly enter: () => void }[] = [];

  function letIn(): void {
    for (let next = waiting[0]; next !== undefined && next.bytes <= freeBytes; next = waiting[0]) {
      waiting.shift();
      freeBytes -= next.bytes;
      next.enter();
    }
  }

  async function enter(bytes: number, gone: AbortSignal): Promise<void> {
    if (waiting.length === 0 && bytes <= freeBytes) {
      freeBytes -= bytes;
      return;
    }
    if (waiting.length >= options.maxWaiting) {
      throw new AppError(
        "service_unavailable",
        `Too many uploads are under way. Send this one again in ${RETRY_AFTER_SEC} seconds.`,
        { retryAfterSec: RETRY_AFTER_SEC },
      );
    }
    const turn = Promise.withResolvers<void>();
    const place = { bytes, enter: turn.resolve };
    waiting.push(place);
    const leave = () => {
      const at = waiting.indexOf(place);
      // Somebody who was let in before leaves by finding the body ended.
      if (at === -1) return;
      waiting.splice(at, 1);
      letIn();
      turn.reject(new AppError("invalid_request", "The client left before its upload was read."));
    };
    gone.addEventListener("abort", leave, { once: true });
    try {
      if (gone.aborted) leave();
      await turn.promise;
    } finally {
      gone.removeEventListener("abort", leave);
    }
  }

  /**
   * Runs `work`, which reads the request's body, once there is memory for it.
   *
   * @throws AppError `service_unavailable` when too many wait already; whatever `work` throws
   */
  async function run<T>(request: Request, work: () => Promise<T>): Promise<T> {
    const length = Number(request.headers.get("content-length") ?? HELD_BYTES);
    const bytes = Math.min(length, HELD_BYTES, options.bytesAtOnce);
    await enter(bytes, request.signal);
    try {
      return await work();
    } finally {
      freeBytes += bytes;
      letIn();
    }
  }

  return { run };
}

export type UploadGate = ReturnType<typeof createUploadGate>;
