import type { Deadline, TimeLimit } from "./deadline.ts";

export interface BodyBounds {
  readonly maxBytes: number;
  /** The error for a longer body. */
  readonly tooLarge: () => Error;
  /**
   * How long the body may pause, by a deadline that ends with the body. The time that its reader takes between two pieces does not
   * count.
   */
  readonly idle?: (TimeLimit & { readonly deadline: Deadline }) | undefined;
  /** The slowest that the body may come: all its pauses together may be as long as one, and longer by the time that its bytes need. */
  readonly pace?: Pace | undefined;
  /** The error to throw for one that ends the reading. */
  readonly explain?: ((error: unknown) => unknown) | undefined;
}

export interface Pace {
  readonly leastBytesPerMs: number;
  /** Milliseconds on a clock that never jumps. */
  readonly elapsed: () => number;
}

/**
 * Reads a body piece by piece, and cancels the rest when its reader stops.
 *
 * @throws what `tooLarge` makes, as soon as the declared or the read size exceeds the limit
 */
export async function* readBounded(
  response: Response,
  { maxBytes, tooLarge, idle, pace, explain = (error) => error }: BodyBounds,
): AsyncGenerator<Uint8Array> {
  const reader = response.body?.getReader();
  let sizeBytes = 0;
  let waitedMs = 0;
  const mayWaitMs = (delayMs: number) =>
    pace === undefined ? delayMs : Math.min(delayMs, delayMs + sizeBytes / pace.leastBytesPerMs - waitedMs);
  try {
    if (isDeclaredLarger(response, maxBytes)) throw tooLarge();
    while (reader !== undefined) {
      idle?.deadline.phase(mayWaitMs(idle.delayMs), idle.what);
      const since = pace?.elapsed() ?? 0;
      const { done, value } = await reader.read();
      waitedMs += (pace?.elapsed() ?? 0) - since;
      if (done) return;
      sizeBytes += value.length;
      if (sizeBytes > maxBytes) throw tooLarge();
      idle?.deadline.pause();
      yield value;
    }
  } catch (error) {
    throw explain(error);
  } finally {
    idle?.deadline.end();
    reader?.cancel().catch(() => undefined);
  }
}

export function isDeclaredLarger({ headers }: Pick<Response, "headers">, maxBytes: number): boolean {
  return Number(headers.get("content-length") ?? 0) > maxBytes;
}

/** Cancels an answer that nobody will read, which frees its connection and memory. */
export function abandon(response: Response): void {
  response.body?.cancel().catch(() => undefined);
}
