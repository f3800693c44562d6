import { createParser } from "eventsource-parser";

/** One server-sent event. */
export interface UpstreamEvent {
  /** Empty when it has none. */
  readonly name: string;
  readonly data: string;
}

/** Takes the events of an answer as they come. */
export interface EventTaker {
  /** @returns whether it wants more */
  take(event: UpstreamEvent): boolean;
  /** Of one event. */
  readonly maxBytes: number;
}

/** Whether an answer is a stream of server-sent events, and a success. */
export function isEventStream({ ok, headers }: Pick<Response, "ok" | "headers">): boolean {
  return ok && /^text\/event-stream\b/i.test(headers.get("content-type") ?? "");
}

/** Hands over events as their text comes. */
export interface EventReader {
  /** @returns whether more is wanted */
  feed(chunk: Uint8Array): boolean;
  /** The text has ended; an event whose last line break is missing counts all the same. */
  end(): void;
}

/** @param tooLarge makes the error thrown for an event over the limit */
export function createEventReader(to: EventTaker, tooLarge: () => Error): EventReader {
  const decoder = new TextDecoder();
  let wantsMore = true;
  const parser = createParser({
    maxBufferSize: to.maxBytes,
    onEvent({ event = "", data }) {
      if (wantsMore) wantsMore = to.take({ name: event, data });
    },
    onError(error) {
      // What else can be wrong with a line makes it one that means nothing.
      if (error.type === "max-buffer-size-exceeded") throw tooLarge();
    },
  });
  return {
    feed(chunk) {
      parser.feed(decoder.decode(chunk, { stream: true }));
      return wantsMore;
    },
    end: () => parser.feed("\n\n"),
  };
}
