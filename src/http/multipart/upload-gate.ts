import { AppError, invalid } from "../../domain/errors.ts";

/**
 * The most memory that one upload holds, whatever its size: what Bun has read ahead and delivered, and what is not garbage
 * collected yet. Measured with fast senders (Bun 1.4.5).
 */
const HELD_BYTES = 4 * 1024 * 1024;
const RETRY_AFTER_SEC = 5;
/** A body read as a whole is in memory as bytes, as text and decoded. Measured with 40 of 26 MB at once: 57 MB each. */
const WHOLE_TIMES = 2;
/** The length that a body without Content-Length counts as. */
const UNKNOWN_WHOLE_BYTES = 4 * 1024 * 1024;
/** Bodies up to this size are not limited. */
const SMALL_BYTES = 1024 * 1024;

export interface UploadGateOptions {
  /** Memory for all uploads that are being read. */
  readonly bytesAtOnce: number;
  /** How many uploads may wait. Bun (1.4.5) holds about 1.5 MB of a body that is not read. */
  readonly maxWaiting: number;
}

/** The share of memory and queue that one owner may use, so that there is always room for others. */
const KEPT_FOR_OTHERS = 1 / 4;

interface Asked {
  readonly owner: string;
  readonly bytes: number;
}
interface Place extends Asked {
  readonly enter: () => void;
}

/** Counts the memory that uploads hold, and what of it is each owner's. */
function createMemory(totalBytes: number) {
  const mostOfOne = totalBytes * (1 - KEPT_FOR_OTHERS);
  let freeBytes = totalBytes;
  const held = new Map<string, number>();
  return {
    isTooLarge: ({ bytes }: Asked) => bytes > freeBytes,
    hasRoom({ owner, bytes }: Asked): boolean {
      const own = held.get(owner) ?? 0;
      // An upload larger than a share is let in when its owner has no other.
      return bytes <= freeBytes && (own === 0 || own + bytes <= mostOfOne);
    },
    take({ owner, bytes }: Asked): void {
      freeBytes -= bytes;
      held.set(owner, (held.get(owner) ?? 0) + bytes);
    },
    giveBack({ owner, bytes }: Asked): void {
      freeBytes += bytes;
      const left = (held.get(owner) ?? 0) - bytes;
      if (left > 0) held.set(owner, left);
      else held.delete(owner);
    },
  };
}

/** The uploads that wait for memory, in the order they came. */
function createLine(memory: ReturnType<typeof createMemory>, maxWaiting: number) {
  const mostOfOne = Math.ceil(maxWaiting * (1 - KEPT_FOR_OTHERS));
  const waiting: Place[] = [];

  function letIn(): void {
    const passedOver = new Set<string>();
    for (const place of [...waiting]) {
      // An owner's own uploads stay in their order.
      if (passedOver.has(place.owner)) continue;
      if (memory.hasRoom(place)) {
        waiting.splice(waiting.indexOf(place), 1);
        memory.take(place);
        place.enter();
      } else if (memory.isTooLarge(place)) {
        // Small uploads do not overtake one that waits for memory.
        return;
      } else {
        passedOver.add(place.owner);
      }
    }
  }

  async function wait(asked: Asked, gone: AbortSignal): Promise<void> {
    const turn = Promise.withResolvers<void>();
    const place = { ...asked, enter: turn.resolve };
    waiting.push(place);
    const leave = () => {
      const at = waiting.indexOf(place);
      // An upload that was let in before ends when its body does.
      if (at === -1) return;
      waiting.splice(at, 1);
      letIn();
      turn.reject(invalid({ kind: "upload_abandoned" }));
    };
    gone.addEventListener("abort", leave, { once: true });
    try {
      if (gone.aborted) leave();
      await turn.promise;
    } finally {
      gone.removeEventListener("abort", leave);
    }
  }

  return {
    letIn,
    wait,
    isNext: (owner: string) => !waiting.some((place) => place.owner === owner || memory.isTooLarge(place)),
    isFullFor: (owner: string) =>
      waiting.length >= maxWaiting || waiting.filter((place) => place.owner === owner).length >= mostOfOne,
  };
}

/**
 * Admits as many uploads at once as there is memory for. The others wait unread, in order of arrival. One owner's uploads leave
 * a quarter of the memory and of the queue to others.
 */
export function createUploadGate(options: UploadGateOptions) {
  const memory = createMemory(options.bytesAtOnce);
  const line = createLine(memory, options.maxWaiting);

  async function enter(asked: Asked, gone: AbortSignal): Promise<void> {
    if (line.isNext(asked.owner) && memory.hasRoom(asked)) {
      memory.take(asked);
      return;
    }
    if (line.isFullFor(asked.owner)) {
      const facts = { kind: "too_many_uploads", retryAfterSec: RETRY_AFTER_SEC } as const;
      const details = { retryAfterSec: RETRY_AFTER_SEC, shouldRetry: true };
      throw new AppError("service_unavailable", facts, details);
    }
    await line.wait(asked, gone);
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
      memory.giveBack(asked);
      line.letIn();
    }
  }

  return {
    /**
     * Runs `work`, which reads the request's body piece by piece, once there is memory for it.
     * @param owner whose upload it is
     * @throws AppError `service_unavailable` when too many wait already; whatever `work` throws
     */
    run<T>(request: Request, owner: string, work: () => Promise<T>): Promise<T> {
      const bytes = Math.min(lengthOf(request, HELD_BYTES), HELD_BYTES);
      return hold({ request, owner, bytes }, work);
    },
    /** The same for `work` that reads and decodes the body as a whole. Small bodies pass at once. */
    runWhole<T>(request: Request, owner: string, work: () => Promise<T>): Promise<T> {
      const length = lengthOf(request, UNKNOWN_WHOLE_BYTES);
      return length <= SMALL_BYTES ? work() : hold({ request, owner, bytes: length * WHOLE_TIMES }, work);
    },
  };
}

/** The request's Content-Length, or `unknown` without a usable one. */
function lengthOf(request: Request, unknown: number): number {
  const given = request.headers.get("content-length");
  return given !== null && /^\d{1,15}$/.test(given) ? Number(given) : unknown;
}

export type UploadGate = ReturnType<typeof createUploadGate>;
