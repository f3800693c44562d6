import { createParser } from "eventsource-parser";
import { unexpectedAnswer } from "../failure.ts";
import { type Attempt, interrupted, isForGood, type Timing, type Trouble, withRetries } from "./retry.ts";

export interface ServerEvent {
  readonly name: string;
  /** Absent for an event that a stream cannot resume after. */
  readonly id?: string | undefined;
  readonly data: string;
}

export interface FollowEventsOptions {
  readonly open: (
    lastEventId: string | undefined,
    signal: AbortSignal,
  ) => Promise<Attempt<ReadableStream<Uint8Array>>>;
  readonly timing: Timing;
  readonly signal: AbortSignal;
  /** The event to resume after; absent: start with new events. */
  readonly lastEventId?: string | undefined;
  /** Called with one event at a time. The next is read when it resolves. */
  readonly take: (event: ServerEvent) => Promise<void>;
  /** Called at every connection. */
  readonly onOpen?: (() => void) | undefined;
  /** Called at every failed try to reconnect. */
  readonly onTrouble?: ((trouble: Trouble) => void) | undefined;
  /** Silence after which a connection counts as lost. */
  readonly silenceMs?: number | undefined;
}

/** The server has missed three signs of life. */
const SILENCE_MS = 45_000;
const MIN_DELAY_MS = 500;
const MAX_DELAY_MS = 10_000;
const MAX_RETRY_AFTER_MS = 60_000;
/** Longest event, in characters. */
const MAX_EVENT_SIZE = 4_000_000;

/**
 * Follows a stream of server-sent events. Reconnects when the connection ends, breaks or falls silent, and resumes after the last
 * event.
 *
 * @throws Failure when the first connection cannot be made, when the server refuses for good, or at Ctrl-C
 */
export async function followEvents(options: FollowEventsOptions): Promise<never> {
  const { signal, timing, take } = options;
  const watch = createWatch(options.silenceMs ?? SILENCE_MS);
  let lastEventId = options.lastEventId;
  /** Tries since the last byte was read. */
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

/** Parses events from text as it arrives. A comment of the server names the start of a stream that has had no event yet. */
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
      // A new connection would receive the same event again.
      if (isTooLarge) throw unexpectedAnswer("The server sends an event that is too large.");
      return events.splice(0);
    },
  };
}

/** Aborts a connection that is silent for too long. */
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

/** Half a second up to a limit that doubles with each try; ten seconds at most. */
function delayBefore(tries: number, random: number): number {
  const most = Math.min(MAX_DELAY_MS, MIN_DELAY_MS * 2 ** tries);
  return Math.round(MIN_DELAY_MS + random * (most - MIN_DELAY_MS));
}
