import type { AppError } from "../domain/errors.ts";
import type { Clock } from "../domain/ports/runtime.ts";
import { envelopeFor, problem } from "./problem.ts";
import type { Reply, ReplyLog } from "./reply.ts";
import type { Standing } from "./standing.ts";

export interface StreamedEvent {
  /** Absent if its reader knows only one kind. */
  readonly name?: string | undefined;
  /** The client sends it as `Last-Event-ID` when it reconnects. */
  readonly id?: string | undefined;
  /** Text without line breaks; given in pieces if it is too large to hold in memory. */
  readonly data: string | AsyncIterable<string>;
}

/**
 * Every method resolves once the reader has room for more; await it before the next call. After the end of the stream the
 * methods resolve at once and drop their arguments.
 */
export interface EventWriter {
  event(event: StreamedEvent): Promise<void>;
  /** A sign of life, which clients ignore. */
  comment(text: string): Promise<void>;
  /** Several events at once, as `eventText` writes them. */
  events(text: string): Promise<void>;
  /** Tells a client its position before the first event, so that it misses nothing if it reconnects before one arrived. */
  mark(id: string): Promise<void>;
}

export interface EventStreamOptions {
  readonly clock: Clock;
  /** Aborts when the client is gone or the service stops. */
  readonly signal: AbortSignal;
  /**
   * Writes the events; the stream ends when it returns. `signal` aborts when the stream ends earlier. Called once, also for a
   * stream that is dropped unread; its signal is then aborted from the start.
   */
  readonly write: (events: EventWriter, signal: AbortSignal) => Promise<void>;
  /**
   * Whether the client may still receive events. Checked before each event. Within about a second of a refusal the stream ends
   * with an `error` event that contains the refusal.
   */
  readonly standing?: Pick<Standing, "path" | "refusal" | "onRefused"> | undefined;
  /** What the stream has besides its events; `resumable` unless given. */
  readonly form?: keyof typeof FORMS | undefined;
  /** Called when `write` throws; the stream ends, so that the client reconnects. */
  readonly onError: (error: unknown) => void;
  /** Called once when the stream has ended. */
  readonly onEnd?: (() => void) | undefined;
}

const HEADERS = {
  "Content-Type": "text/event-stream",
  "Cache-Control": "no-store",
  // nginx would hold events until a buffer is full.
  "X-Accel-Buffering": "no",
} as const;

/** Proxies and clients close connections that are silent for about a minute. */
const KEEP_ALIVE_MS = 15_000;
/** How long a client waits before it reconnects. */
const RETRY_MS = 3_000;

/** What there is at the beginning, and in silence. */
const FORMS = {
  resumable: { beginning: `retry: ${RETRY_MS}\n\n`, signOfLife: ": keep-alive\n\n" },
  /**
   * The answer to a request that is not sent again to go on. Older clients of OpenAI's for Java take `retry` for an event, those for
   * Go an empty line.
   */
  answer: { beginning: ": keep-alive\n", signOfLife: ": keep-alive\n" },
  /** Nothing but data, without names. Google's clients for Python and Go take any line that is not empty for data. */
  data: { beginning: "\n\n", signOfLife: "\n\n" },
} as const;

/** An answer of server-sent events. */
export function eventReply(options: EventStreamOptions, log?: ReplyLog): Reply {
  const over = Promise.withResolvers<void>();
  return {
    status: 200,
    headers: HEADERS,
    body: eventStream({ ...options, onEnd: over.resolve }),
    over: over.promise,
    log,
  };
}

/**
 * A body of server-sent events. `write` starts when somebody reads. For a reader that has stopped reading, at most one piece is
 * held. The server's limit on silent connections ends this stream, so the limit must not be lifted.
 */
export function eventStream(options: EventStreamOptions): ReadableStream<Uint8Array> {
  const over = new AbortController();
  const pieces = createHandover();
  const { beginning, signOfLife } = FORMS[options.form ?? "resumable"];
  let cancelTimer = () => {};
  let stopWatching = () => {};

  const end = (last?: string) => {
    if (over.signal.aborted) return;
    over.abort();
    cancelTimer();
    stopWatching();
    options.signal.removeEventListener("abort", onAbort);
    pieces.end(last);
    options.onEnd?.();
  };
  const onAbort = () => end();
  const isOver = () => {
    const { standing } = options;
    const refusal = over.signal.aborted ? undefined : standing?.refusal();
    // In the middle of an event, more text would complete it, so none is written.
    if (refusal !== undefined) end(writer.isWithinEvent() ? "" : refusalText(refusal, options));
    return over.signal.aborted;
  };
  const keepAlive = () => {
    if (isOver()) return;
    if (!writer.isWithinEvent() && pieces.isWanted()) void pieces.offer(signOfLife);
    cancelTimer = options.clock.after(KEEP_ALIVE_MS, keepAlive);
  };
  const writer = createWriter(pieces, { isOver, signal: over.signal });
  const begin = async () => {
    if (options.signal.aborted) end();
    if (!over.signal.aborted) {
      options.signal.addEventListener("abort", onAbort);
      stopWatching = options.standing?.onRefused(isOver) ?? stopWatching;
      keepAlive();
    }
    try {
      await pieces.offer(beginning);
      await options.write(writer.events, over.signal);
    } catch (error) {
      options.onError(error);
    } finally {
      end();
    }
  };

  return readableOf(pieces, () => void begin(), end);
}

/** @param begin called once, when the reader reads or leaves without reading */
function readableOf(pieces: Handover, begin: () => void, end: () => void): ReadableStream<Uint8Array> {
  let hasBegun = false;
  const beginOnce = () => {
    if (hasBegun) return;
    hasBegun = true;
    begin();
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        beginOnce();
        const piece = await pieces.next();
        if (piece === undefined) controller.close();
        else controller.enqueue(piece);
      },
      cancel() {
        end();
        // `write` runs even if nobody read. It may have to record that the reader left, so that a repeated request finds its
        // task.
        beginOnce();
      },
    },
    { highWaterMark: 0 },
  );
}

/** Writes events to a stream; calls `isOver` before each. */
function createWriter(
  pieces: Handover,
  { isOver, signal }: { readonly isOver: () => boolean; readonly signal: AbortSignal },
) {
  let isWithinEvent = false;
  const events: EventWriter = {
    async event({ name, id, data }) {
      if (isOver()) return;
      if (typeof data === "string") {
        await pieces.offer(eventText({ name, id, data }));
      } else {
        isWithinEvent = true;
        await pieces.offer(headOf({ name, id }));
        for await (const piece of data) {
          if (signal.aborted) break;
          await pieces.offer(piece);
        }
        await pieces.offer("\n\n");
        isWithinEvent = false;
      }
    },
    async events(text) {
      if (!isOver()) await pieces.offer(text);
    },
    comment: (text) => pieces.offer(`: ${text}\n\n`),
    // For an id without data, a client remembers the id and reports no event.
    mark: (id) => pieces.offer(`: from ${id}\nid: ${id}\n\n`),
  };
  return { events, isWithinEvent: () => isWithinEvent };
}

function refusalText(refusal: AppError, { standing, form }: EventStreamOptions): string {
  const { body } = problem(refusal, envelopeFor(standing?.path ?? "", refusal.code));
  return eventText({ name: form === "data" ? undefined : "error", data: String(body) });
}

/** An event as text. */
export function eventText({ data, ...event }: StreamedEvent & { readonly data: string }): string {
  return `${headOf(event)}${data}\n\n`;
}

function headOf({ name, id }: Pick<StreamedEvent, "name" | "id">): string {
  return `${id === undefined ? "" : `id: ${id}\n`}${name === undefined ? "" : `event: ${name}\n`}data: `;
}

type Handover = ReturnType<typeof createHandover>;

/** Passes text from a writer to a reader. Each waits for the other. */
function createHandover() {
  const encoder = new TextEncoder();
  const waiting: { readonly text: string; readonly taken: () => void }[] = [];
  let reader: ((piece: Uint8Array | undefined) => void) | undefined;
  let hasEnded = false;
  return {
    /** Whether the reader waits for a piece. */
    isWanted: () => reader !== undefined,
    offer(text: string): Promise<void> {
      if (hasEnded) return Promise.resolve();
      if (reader !== undefined) {
        reader(encoder.encode(text));
        reader = undefined;
        return Promise.resolve();
      }
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.push({ text, taken: resolve });
      return promise;
    },
    /** @returns undefined at the end */
    next(): Promise<Uint8Array | undefined> {
      const piece = waiting.shift();
      if (piece !== undefined) {
        piece.taken();
        return Promise.resolve(encoder.encode(piece.text));
      }
      if (hasEnded) return Promise.resolve(undefined);
      const { promise, resolve } = Promise.withResolvers<Uint8Array | undefined>();
      reader = resolve;
      return promise;
    },
    /** Drops what was not read yet. @param last the text that the reader still gets */
    end(last = ""): void {
      hasEnded = true;
      for (const { taken } of waiting.splice(0)) taken();
      const piece = last === "" ? undefined : encoder.encode(last);
      if (reader === undefined && piece !== undefined) waiting.push({ text: last, taken: () => {} });
      reader?.(piece);
      reader = undefined;
    },
  };
}
