import { invalid } from "../../domain/errors.ts";
import type { Incoming } from "../ingress/incoming.ts";

const CR = 0x0d;

/**
 * Reads a body piece by piece, up to marks in it, and only on demand.
 *
 * Every mark starts with CR.
 */
export function openBody(incoming: Pick<Incoming, "next">) {
  // A mark starts with the end of a line, and the body may start with a mark.
  let buffered: Buffer = Buffer.from("\r\n");

  async function readMore(): Promise<void> {
    // A view of the rest would not outlive its piece, so it is copied.
    buffered = Buffer.from(buffered);
    const chunk = await incoming.next();
    if (chunk === undefined) throw invalid({ kind: "form_unended" });
    buffered = buffered.length === 0 ? chunk : Buffer.concat([buffered, chunk]);
  }

  function take(length: number): Buffer {
    const taken = buffered.subarray(0, length);
    buffered = buffered.subarray(length);
    return taken;
  }

  /** The next piece before the mark; undefined at the mark, which is then consumed. Valid until the next call. */
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

  /** Everything before the mark, which is consumed; undefined if it is longer than `maxBytes`. */
  async function allBefore(mark: Buffer, maxBytes: number): Promise<Uint8Array | undefined> {
    const pieces: Uint8Array[] = [];
    let sizeBytes = 0;
    for (;;) {
      const piece = await pieceBefore(mark);
      if (piece === undefined) return pieces.length === 1 ? pieces[0] : Buffer.concat(pieces);
      sizeBytes += piece.length;
      if (sizeBytes > maxBytes) return undefined;
      pieces.push(Buffer.from(piece));
    }
  }

  /** Whether these bytes come next. Does not read them. */
  async function startsWith(bytes: Buffer): Promise<boolean> {
    while (buffered.length < bytes.length) await readMore();
    return buffered.subarray(0, bytes.length).equals(bytes);
  }

  return { pieceBefore, allBefore, startsWith };
}

export type Body = ReturnType<typeof openBody>;

/** How many bytes of the mark's beginning are at the end of the bytes; the rest may follow. */
function startedLength(bytes: Buffer, mark: Buffer): number {
  const tail = bytes.subarray(Math.max(0, bytes.length - mark.length + 1));
  for (let at = tail.indexOf(CR); at !== -1; at = tail.indexOf(CR, at + 1)) {
    const started = tail.subarray(at);
    if (mark.subarray(0, started.length).equals(started)) return started.length;
  }
  return 0;
}
