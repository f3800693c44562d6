import { createParser } from "eventsource-parser";

/** One server-sent event. */
export interface UpstreamEvent {
  /** Empty for an event without a name. */
  readonly name: string;
  readonly data: string;
}

/** Receives the events of an answer as they arrive. */
export interface EventTaker {
  /** @returns whether it wants more */
  take(event: UpstreamEvent): boolean;
  /** The size limit of one event. */
  readonly maxBytes: number;
}

/** Whether an answer is a success whose body is a stream of server-sent events. */
export function isEventStream({ ok, headers }: Pick<Response, "ok" | "headers">): boolean {
  return ok && /^text\/event-stream\b/i.test(headers.get("content-type") ?? "");
}

/** Reads events from text that arrives in pieces. @param tooLarge makes the error thrown for an event over the limit */
export function createEventReader(to: EventTaker, tooLarge: () => Error) {
  const decoder = new TextDecoder();
  let wantsMore = true;
  const parser = createParser({
    maxBufferSize: to.maxBytes,
    onEvent({ event = "", data }) {
      if (wantsMore) wantsMore = to.take({ name: event, data });
    },
    onError(error) {
      // Any other error means a line without meaning, which the format ignores.
      if (error.type === "max-buffer-size-exceeded") throw tooLarge();
    },
  });
  return {
    /** @returns whether more is wanted */
    feed(chunk: Uint8Array): boolean {
      parser.feed(decoder.decode(chunk, { stream: true }));
      return wantsMore;
    },
    /** Ends the text. An event without its final line break counts too. */
    end: () => parser.feed("\n\n"),
  };
}
