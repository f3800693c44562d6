import { AppError, invalid } from "../../domain/errors.ts";
import { freeMemory } from "../../toolkit/free-memory.ts";
import type { IngressBudget, IngressShare } from "./budget.ts";
import type { Incoming, Intake } from "./incoming.ts";
import type { Lane } from "./lane.ts";
import type { Pace, Sender } from "./pace.ts";

/** Bodies up to this size are read at once, */
const SMALL_BYTES = 64 * 1024;
/** as long as all of them together declare no more than this. */
const ALL_SMALL_BYTES = 16 * 1024 * 1024;

/** What an open file counts for, because a process may have only few of them, as it has limited memory. */
const FILE_BYTES = 1024 * 1024;

/** What a body that nobody reads has in memory: what it is said to be, at most what Bun reads ahead, at least its connection's own. */
const MOST_UNREAD_BYTES = 1024 * 1024;
const LEAST_UNREAD_BYTES = 16 * 1024;

/** The only way to the bodies of requests. */
export type Ingress = ReturnType<typeof createIngress>;

export function createIngress(deps: {
  readonly budget: IngressBudget;
  readonly pace: Pace;
  readonly lane: Lane;
}) {
  const { budget, pace, lane } = deps;
  let smallBytes = 0;

  function small(request: Request): Promise<Uint8Array> | undefined {
    const length = lengthOf(request);
    if (length === undefined || length > SMALL_BYTES) return undefined;
    if (smallBytes + length > ALL_SMALL_BYTES) return undefined;
    smallBytes += length;
    return new Promise((resolve, reject) => {
      const sender: Sender = { sentBytes: 0, waitedMs: 0, cut: () => reject(tooSlow()) };
      const end = () => {
        smallBytes -= length;
        pace.heard(sender, length);
      };
      pace.await(sender);
      request.bytes().then(
        (content) => {
          end();
          resolve(content);
        },
        (error: unknown) => {
          end();
          reject(unfinished(error));
        },
      );
    });
  }

  async function receive<T>(
    request: Request,
    owner: string,
    maxBytes: number,
    read: (body: Incoming) => Promise<T>,
  ): Promise<T> {
    if ((lengthOf(request) ?? 0) > maxBytes) throw bodyTooLarge(maxBytes);
    const share = await budget.open(owner, request.signal, unreadBytesOf(request));
    const incoming = openIncoming(request.body, maxBytes, share, pace, () => lane(owner));
    try {
      return await read(incoming.body);
    } finally {
      share.close();
      // Bun then receives the rest and drops it. Most clients would miss an answer in the middle of an upload.
      await incoming.cancel();
    }
  }

  return {
    /** @param ownerOf returns the owner of the body; called when the body is read */
    intakeOf: (request: Request, ownerOf: () => string): Intake => ({
      small: () => small(request),
      receive: (maxBytes, read) => receive(request, ownerOf(), maxBytes, read),
    }),
  };
}

function openIncoming(
  stream: ReadableStream<Uint8Array> | null,
  maxBytes: number,
  share: IngressShare,
  pace: Pace,
  turn: () => Promise<void> | undefined,
) {
  const reader = stream?.getReader();
  const cancel = async () => void (await reader?.cancel().catch(() => undefined));
  let isTooSlow = false;
  let last: Uint8Array | undefined;
  const sender: Sender = {
    sentBytes: 0,
    waitedMs: 0,
    cut() {
      isTooSlow = true;
      void cancel();
    },
  };

  async function next(): Promise<Buffer | undefined> {
    if (reader === undefined) return undefined;
    if (last !== undefined) drop(last);
    last = undefined;
    const room = share.room();
    if (room !== undefined) await room;
    pace.await(sender);
    const piece = await reader
      .read()
      .catch((error: unknown) => {
        throw unfinished(error);
      })
      .finally(() => pace.heard(sender, 0));
    if (isTooSlow) throw tooSlow();
    if (piece.done) return undefined;
    last = piece.value;
    sender.sentBytes += last.length;
    share.take(last.length);
    if (sender.sentBytes > maxBytes) throw bodyTooLarge(maxBytes);
    const waiting = turn();
    if (waiting !== undefined) await waiting;
    return Buffer.from(last.buffer, last.byteOffset, last.byteLength);
  }

  function drop(piece: Uint8Array): void {
    share.give(piece.length);
    freeMemory(piece);
  }

  async function takeFile(): Promise<void> {
    const room = share.room();
    if (room !== undefined) await room;
    share.take(FILE_BYTES);
  }

  const body: Incoming = { next, take: share.take, give: share.give, takeFile, turn };
  return { body, cancel };
}

/** The request's Content-Length; undefined without a usable one. */
function lengthOf({ headers }: Request): number | undefined {
  const given = headers.get("content-length");
  return given !== null && /^\d{1,15}$/.test(given) ? Number(given) : undefined;
}

const unreadBytesOf = (request: Request) =>
  Math.min(Math.max(lengthOf(request) ?? MOST_UNREAD_BYTES, LEAST_UNREAD_BYTES), MOST_UNREAD_BYTES);

const tooSlow = () => invalid({ kind: "upload_too_slow" });
const unfinished = (cause: unknown) => invalid({ kind: "body_unfinished" }, cause);
const bodyTooLarge = (most: number) => new AppError("request_too_large", { kind: "body_too_large", most });
