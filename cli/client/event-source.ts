import { createParser } from "eventsource-parser";
import { EXIT } from "../exit-codes.ts";
import { Failure } from "../failure.ts";
import type { Opened } from "./open-events.ts";
import { interrupted, type Timing, type Trouble, withRetries } from "./retry.ts";

export interface ServerEvent {
  readonly name: string;
  /** Absent for one that nobody can come back for. */
  readonly id?: string | undefined;
  readonly data: string;
}

export interface FollowEventsOptions {
  readonly open: (lastEventId: string | undefined, signal: AbortSignal) => Promise<Opened>;
  readonly timing: Timing;
  readonly signal: AbortSignal;
  /** Where to begin; absent: with what happens from now on. */
  readonly lastEventId?: string | undefined;
  /** Given one event after the other; the next is read when it resolves. */
  readonly take: (event: ServerEvent) => Promise<void>;
  /** Told of every connection. */
  readonly onOpen?: (() => void) | undefined;
  /** Told of every try in vain to have one again. */
  readonly onTrouble?: ((trouble: Trouble) => void) | undefined;
  /** After how long without a sign of life a connection counts as lost. */
  readonly silenceMs?: number | undefined;
}

/** Three signs of life of the server have not come. */
const SILENCE_MS = 45_000;
const MIN_DELAY_MS = 500;
const MAX_DELAY_MS = 10_000;
const MAX_RETRY_AFTER_MS = 60_000;
/** Of one event, in characters. */
const MAX_EVENT_SIZE = 4_000_000;

/**
 * Follows a stream of server-sent events for as long as it can be had: a connection that ends, breaks or falls silent is made
 * again, and goes on after the last event taken.
 *
 * @throws Failure when the first connection cannot be made, when the server refuses for good, or at Ctrl-C
 */
export async function followEvents(options: FollowEventsOptions): Promise<never> {
  const { signal, timing, take } = options;
  const watch = createWatch(options.silenceMs ?? SILENCE_MS);
  let lastEventId = options.lastEventId;
  /** Tries since anything was read. */
  let tries = 0;

  const connect = () => {
    watch.start();
    return options.open(lastEventId, AbortSignal.any([signal, watch.signal()])).finally(watch.stop);
  };

  async function read(stream: ReadableStream<Uint8Array>): Promise<void> {
    const reader = stream.getReader();
    const decoder = new TextDecoder();
    const events = createReader((id) => {
      lastEventId = id;
    });
    try {
      for (;;) {
        watch.start();
        const chunk = await reader.read().catch(() => undefined);
        watch.stop();
        if (chunk === undefined || chunk.done) return;
        tries = 0;
        for (const event of events.feed(decoder.decode(chunk.value, { stream: true }))) {
          await take(event);
          lastEventId = event.id ?? lastEventId;
        }
        if (signal.aborted) return;
      }
    } finally {
      watch.stop();
      await reader.cancel().catch(() => undefined);
    }
  }

  async function reconnect(): Promise<ReadableStream<Uint8Array>> {
    for (let askedMs = 0; ; ) {
      tries += 1;
      const delayMs = Math.max(delayBefore(tries, timing.random()), askedMs);
      await timing.sleep(delayMs, signal);
      const opened = await connect();
      if (opened.ok) return opened.value;
      if (signal.aborted) throw interrupted();
      if (isForGood(opened)) throw opened.failure;
      askedMs = Math.min(opened.retryAfterMs ?? 0, MAX_RETRY_AFTER_MS);
      options.onTrouble?.(opened);
    }
  }

  let stream = await withRetries(connect, { timing, signal });
  for (;;) {
    options.onOpen?.();
    await read(stream);
    if (signal.aborted) throw interrupted();
    stream = await reconnect();
  }
}

/** Reads events out of text as it comes. The server says with a comment where a stream begins that has had no event yet. */
function createReader(begin: (lastEventId: string) => void) {
  const events: ServerEvent[] = [];
  let isTooLarge = false;
  const parser = createParser({
    maxBufferSize: MAX_EVENT_SIZE,
    onEvent: ({ event = "message", id, data }) => void events.push({ name: event, id, data }),
    onComment(comment) {
      const [, id] = /^from (\d+)$/.exec(comment) ?? [];
      if (id !== undefined && events.length === 0) begin(id);
    },
    onError(error) {
      isTooLarge ||= error.type === "max-buffer-size-exceeded";
    },
  });
  return {
    feed(text: string): ServerEvent[] {
      parser.feed(text);
      // Coming back would bring the same one again.
      if (isTooLarge)
        throw new Failure(EXIT.error, "unexpected_answer", "The server sends an event that is too large.");
      return events.splice(0);
    },
  };
}

/** Aborts what is under way when it is silent for too long. */
function createWatch(silenceMs: number) {
  let controller = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stop = () => clearTimeout(timer);
  return {
    signal: () => {
      if (controller.signal.aborted) controller = new AbortController();
      return controller.signal;
    },
    start() {
      stop();
      timer = setTimeout(() => controller.abort(), silenceMs);
    },
    stop,
  };
}

/** From half a second up to a limit that doubles with each try, ten seconds at most. */
function delayBefore(tries: number, random: number): number {
  const most = Math.min(MAX_DELAY_MS, MIN_DELAY_MS * 2 ** tries);
  return Math.round(MIN_DELAY_MS + random * (most - MIN_DELAY_MS));
}

/** A server that has trouble of its own may be over it in a moment; one that refuses the request stays with it. */
function isForGood({ retry, failure }: Trouble): boolean {
  const status = failure.more?.status;
  return retry === "no" && !(typeof status === "number" && status >= 500);
}
