import { AppError } from "../../domain/errors.ts";

/**
 * What one upload holds in memory at most, whatever its size: what Bun read ahead and handed over, and what is not yet
 * collected of it. Measured with fast senders (Bun 1.4.5).
 */
const HELD_BYTES = 4 * 1024 * 1024;
const RETRY_AFTER_SEC = 5;
/** A body read as a whole is there as bytes, as text, and decoded. Measured with 40 of 26 MB at once: 57 MB each. */
const WHOLE_TIMES = 2;
/** What does not say how long it is counts as this long. */
const UNKNOWN_WHOLE_BYTES = 4 * 1024 * 1024;
/** Bodies up to here are nobody's concern. */
const SMALL_BYTES = 1024 * 1024;

export interface UploadGateOptions {
  /** Memory for all uploads that are being read. */
  readonly bytesAtOnce: number;
  /** Uploads that may wait for it. Of a body that nobody reads, Bun holds about 1.5 MB (1.4.5). */
  readonly maxWaiting: number;
}

/** So much of the memory and of the line nobody has alone: there is always room for somebody else. */
const KEPT_FOR_OTHERS = 1 / 4;

interface Place {
  readonly owner: string;
  readonly bytes: number;
  readonly enter: () => void;
}

/**
 * Lets as many uploads be read at once as there is memory for; the others wait unread, in the order they came. One owner's
 * uploads leave a quarter of the memory and of the line to others.
 */
export function createUploadGate(options: UploadGateOptions) {
  const mostOfOne = options.bytesAtOnce * (1 - KEPT_FOR_OTHERS);
  const mostWaitingOfOne = Math.ceil(options.maxWaiting * (1 - KEPT_FOR_OTHERS));
  let freeBytes = options.bytesAtOnce;
  const held = new Map<string, number>();
  const waiting: Place[] = [];

  function hasRoom({ owner, bytes }: Pick<Place, "owner" | "bytes">): boolean {
    const own = held.get(owner) ?? 0;
    // What is larger than a share alone is let in when its owner has nothing else.
    return bytes <= freeBytes && (own === 0 || own + bytes <= mostOfOne);
  }

  function take({ owner, bytes }: Pick<Place, "owner" | "bytes">): void {
    freeBytes -= bytes;
    held.set(owner, (held.get(owner) ?? 0) + bytes);
  }

  function giveBack({ owner, bytes }: Pick<Place, "owner" | "bytes">): void {
    freeBytes += bytes;
    const left = (held.get(owner) ?? 0) - bytes;
    if (left > 0) held.set(owner, left);
    else held.delete(owner);
    letIn();
  }

  function letIn(): void {
    const passedOver = new Set<string>();
    for (const place of [...waiting]) {
      // An owner's own uploads stay in their order.
      if (passedOver.has(place.owner)) continue;
      if (hasRoom(place)) {
        waiting.splice(waiting.indexOf(place), 1);
        take(place);
        place.enter();
      } else if (place.bytes > freeBytes) {
        // Small ones do not overtake one that waits for memory.
        return;
      } else {
        passedOver.add(place.owner);
      }
    }
  }

  async function enter(asked: Pick<Place, "owner" | "bytes">, gone: AbortSignal): Promise<void> {
    const { owner, bytes } = asked;
    const isNext = !waiting.some((place) => place.owner === owner || place.bytes > freeBytes);
    if (isNext && hasRoom(asked)) {
      take(asked);
      return;
    }
    const ofOwner = waiting.filter((place) => place.owner === owner).length;
    if (waiting.length >= options.maxWaiting || ofOwner >= mostWaitingOfOne) {
      const facts = { kind: "too_many_uploads", retryAfterSec: RETRY_AFTER_SEC } as const;
      const details = { retryAfterSec: RETRY_AFTER_SEC, shouldRetry: true };
      throw new AppError("service_unavailable", facts, details);
    }
    const turn = Promise.withResolvers<void>();
    const place = { owner, bytes, enter: turn.resolve };
    waiting.push(place);
    const leave = () => {
      const at = waiting.indexOf(place);
      // Somebody who was let in before leaves by finding the body ended.
      if (at === -1) return;
      waiting.splice(at, 1);
      letIn();
      turn.reject(new AppError("invalid_request", { kind: "upload_abandoned" }));
    };
    gone.addEventListener("abort", leave, { once: true });
    try {
      if (gone.aborted) leave();
      await turn.promise;
    } finally {
      gone.removeEventListener("abort", leave);
    }
  }

  async function hold<T>(
    { request, owner, bytes }: { request: Request; owner: string; bytes: number },
    work: () => Promise<T>,
  ): Promise<T> {
    const asked = { owner, bytes: Math.min(bytes, options.bytesAtOnce) };
    await enter(asked, request.signal);
    try {
      return await work();
    } finally {
      giveBack(asked);
    }
  }

  return {
    /**
     * Runs `work`, which reads the request's body piece by piece, once there is memory for it.
     *
     * @param owner whose upload it is
     * @throws AppError `service_unavailable` when too many wait already; whatever `work` throws
     */
    run<T>(request: Request, owner: string, work: () => Promise<T>): Promise<T> {
      const bytes = Math.min(lengthOf(request, HELD_BYTES), HELD_BYTES);
      return hold({ request, owner, bytes }, work);
    },
    /** The same for `work` that reads the body as a whole and decodes what is in it; small bodies pass at once. */
    runWhole<T>(request: Request, owner: string, work: () => Promise<T>): Promise<T> {
      const length = lengthOf(request, UNKNOWN_WHOLE_BYTES);
      return length <= SMALL_BYTES ? work() : hold({ request, owner, bytes: length * WHOLE_TIMES }, work);
    },
  };
}

/** The length a request says its body has; `unknown` where it says none, or no number. */
function lengthOf(request: Request, unknown: number): number {
  const given = request.headers.get("content-length");
  return given !== null && /^\d{1,15}$/.test(given) ? Number(given) : unknown;
}

export type UploadGate = ReturnType<typeof createUploadGate>;
