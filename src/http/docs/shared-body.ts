import { nextTurn } from "../../toolkit/next-turn.ts";

const PIECE_BYTES = 64 * 1024;

/** A body of bytes that all its readers share, after a few words for one of them. */
export type SharedBody = (bytes: Uint8Array, first?: string) => ReadableStream<Uint8Array>;

/**
 * Serves bytes in memory. Each reader gets one piece per turn of the event loop. A whole body would fill the connection's
 * buffers at once, and hundreds of readers would delay everything else.
 */
export function createSharedBodies(): SharedBody {
  let lastTurn = Promise.resolve();
  return (bytes, first) => {
    let at = 0;
    return new ReadableStream<Uint8Array>(
      {
        start(controller) {
          if (first !== undefined) controller.enqueue(new TextEncoder().encode(first));
        },
        async pull(controller) {
          lastTurn = lastTurn.then(nextTurn);
          await lastTurn;
          controller.enqueue(bytes.subarray(at, at + PIECE_BYTES));
          at += PIECE_BYTES;
          if (at >= bytes.length) controller.close();
        },
      },
      { highWaterMark: 0 },
    );
  };
}
