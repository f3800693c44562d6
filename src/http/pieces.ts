import type { Reply } from "./reply.ts";

/* Answers that contain files as base64 without holding them in memory. */

/** Up to this many bytes of files, an answer is built in memory. Larger ones are read from disk as the caller reads. */
const AT_ONCE_BYTES = 256 * 1024;
/** Divisible by 3, so that the pieces' base64 can be joined. */
const PIECE_BYTES = 192 * 1024;

/** Whether an answer with files of this size is made before it begins. */
export const isAtOnce = (sizeBytes: number): boolean => sizeBytes <= AT_ONCE_BYTES;

/** A file as base64, piece by piece. @param before bytes that come before those of the file */
export async function* base64Pieces(content: Blob, before?: Uint8Array): AsyncGenerator<string> {
  const first = before === undefined ? 0 : (3 - (before.length % 3)) % 3;
  if (before !== undefined)
    yield Buffer.concat([before, await content.slice(0, first).bytes()]).toString("base64");
  for (let at = first; at < content.size; at += PIECE_BYTES) {
    const piece = await content.slice(at, at + PIECE_BYTES).arrayBuffer();
    yield Buffer.from(piece).toString("base64");
  }
}

export async function* joined(
  before: string,
  pieces: AsyncIterable<string> | Iterable<string>,
  after: string,
) {
  yield before;
  yield* pieces;
  yield after;
}

/**
 * The same pieces, of which as many have been read as hold the beginning of a file. So a file that is gone is an error before the answer,
 * and does not break it off.
 *
 * @throws what the reading throws
 */
export async function begun(pieces: AsyncGenerator<string>): Promise<AsyncGenerator<string>> {
  let beginning = "";
  for (let isOver = false; !isOver && beginning.length < PIECE_BYTES; ) {
    const { done = false, value } = await pieces.next();
    if (!done) beginning += value;
    isOver = done;
  }
  return joined(beginning, pieces, "");
}

/** A body of these pieces, which contain these files. @param leave called if the reader disconnects before the end, or cannot have it */
export async function bodyInPieces(
  pieces: AsyncGenerator<string>,
  files: readonly Pick<Blob, "size">[],
  leave: () => void,
): Promise<Pick<Reply, "body" | "over">> {
  const sizeBytes = files.reduce((sum, file) => sum + file.size, 0);
  if (!isAtOnce(sizeBytes)) {
    const over = Promise.withResolvers<void>();
    return { body: streamOf(pieces, leave, over.resolve), over: over.promise };
  }
  let body = "";
  for await (const piece of pieces) body += piece;
  return { body };
}

/**
 * A body that is made on demand, so that a slow reader holds one piece in memory. Calls `leave` if the reader disconnects or does not get
 * all of it, and `onEnd` at any end.
 */
function streamOf(
  pieces: AsyncGenerator<string>,
  leave: () => void,
  onEnd: () => void,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        // A body that failed can no longer be cancelled.
        const { done, value } = await pieces.next().catch((error: unknown) => {
          leave();
          onEnd();
          throw error;
        });
        if (!done) return controller.enqueue(encoder.encode(value));
        controller.close();
        onEnd();
      },
      async cancel() {
        leave();
        onEnd();
        await pieces.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
}
