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
  /** The error to throw for one that ends the reading. */
  readonly explain?: ((error: unknown) => unknown) | undefined;
}

/**
 * Reads a body piece by piece, and cancels the rest when its reader stops.
 *
 * @throws what `tooLarge` makes, as soon as the declared or the read size exceeds the limit
 */
export async function* readBounded(
  response: Response,
  { maxBytes, tooLarge, idle, explain = (error) => error }: BodyBounds,
): AsyncGenerator<Uint8Array> {
  const reader = response.body?.getReader();
  let sizeBytes = 0;
  try {
    if (isDeclaredLarger(response, maxBytes)) throw tooLarge();
    while (reader !== undefined) {
      idle?.deadline.phase(idle.delayMs, idle.what);
      const { done, value } = await reader.read();
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
