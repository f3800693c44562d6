import { createParser } from "eventsource-parser";
import { answered, filled } from "./ask.ts";
import { ROOT } from "./connection.ts";
import { ApiProblem } from "./problem.ts";
import type { Streams } from "./published.d.ts";

export type StreamName = keyof Streams;

/** An event of a stream: its name and its data. */
export type StreamEvent<Name extends StreamName> = {
  readonly [Event in keyof Streams[Name]]: { readonly name: Event; readonly data: Streams[Name][Event] };
}[keyof Streams[Name]];

/** Pauses before a stream that broke is followed again, in milliseconds; the last one from then on. */
const PAUSES_MS = [500, 1_000, 2_000, 5_000, 15_000];

/**
 * Follows a stream until the signal aborts. One that breaks is followed again from the last event seen, so that nothing is missed.
 *
 * @throws ApiProblem for a stream that this reader may not follow
 */
export async function follow<Name extends StreamName>(
  name: Name,
  parts: Readonly<Record<string, string>>,
  onEvent: (event: StreamEvent<Name>) => void,
  signal: AbortSignal,
): Promise<void> {
  const url = new URL(filled(name.slice("GET ".length), parts).slice(1), ROOT);
  let lastId: string | undefined;
  let failures = 0;
  const parser = createParser({
    onEvent({ id, event, data }) {
      failures = 0;
      lastId = id ?? lastId;
      if (event !== undefined) onEvent({ name: event, data: JSON.parse(data) } as StreamEvent<Name>);
    },
  });
  while (!signal.aborted) {
    try {
      const headers: Record<string, string> = { Accept: "text/event-stream" };
      if (lastId !== undefined) headers["Last-Event-ID"] = lastId;
      const { body } = await answered(url, { method: "GET", headers, signal });
      for await (const text of textOf(body)) parser.feed(text);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiProblem && error.status >= 400 && error.status < 500 && error.status !== 429)
        throw error;
    }
    parser.reset();
    const pauseMs = PAUSES_MS[Math.min(failures, PAUSES_MS.length - 1)];
    failures += 1;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

async function* textOf(body: Response["body"]): AsyncGenerator<string> {
  if (body === null) return;
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value;
}
