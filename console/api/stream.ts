import { answered, filled } from "./ask.ts";
import { ROOT } from "./connection.ts";
import { createEventReader } from "./event-text.ts";
import { ApiProblem } from "./problem.ts";
import type { Streams } from "./published.d.ts";

export type StreamName = keyof Streams;

/** An event of a stream: its name and its data. */
export type StreamEvent<Name extends StreamName> = {
  readonly [Event in keyof Streams[Name]]: { readonly name: Event; readonly data: Streams[Name][Event] };
}[keyof Streams[Name]];

/** How a stream stands. */
export type StreamState =
  | { readonly kind: "opening" }
  /** `isAnew`: it begins now, and tells nothing of what was before. */
  | { readonly kind: "live"; readonly isAnew: boolean }
  /** It is followed again by itself, from where it was; `problem` where the service said why not at once. */
  | { readonly kind: "broken"; readonly problem: ApiProblem | undefined }
  /** This reader may not follow it. */
  | { readonly kind: "refused"; readonly problem: unknown };

/** Pauses before a stream that broke is followed again, in milliseconds; the last one from then on. */
const PAUSES_MS = [500, 1_000, 2_000, 5_000, 15_000];

/** The service says something every 15 seconds: after this much silence the connection is gone, though nobody told. */
const SILENT_MS = 45_000;

/**
 * Follows a stream until the signal aborts. One that breaks is followed again from the last event seen, so that nothing is missed.
 * While the page is out of sight it is not followed: browsers have few connections for all tabs together.
 *
 * @param onState told at each change, but for those that come of looking elsewhere
 * @throws ApiProblem for a stream that this reader may not follow
 */
export async function follow<Name extends StreamName>(
  name: Name,
  parts: Readonly<Record<string, string>>,
  onEvent: (event: StreamEvent<Name>) => void,
  signal: AbortSignal,
  onState: (state: StreamState) => void = () => {},
): Promise<void> {
  const url = new URL(filled(name.slice("GET ".length), parts).slice(1), ROOT);
  const reader = createEventReader();
  let failures = 0;
  while (!signal.aborted) {
    await untilSeen(signal);
    const hidden = whenHidden();
    let problem: ApiProblem | undefined;
    try {
      const headers: Record<string, string> = { Accept: "text/event-stream" };
      const lastId = reader.lastId();
      if (lastId !== undefined) headers["Last-Event-ID"] = lastId;
      const both = AbortSignal.any([signal, hidden.signal]);
      const { body } = await answered(url, { method: "GET", headers, signal: both });
      onState({ kind: "live", isAnew: lastId === undefined });
      for await (const text of textOf(body)) {
        failures = 0;
        // The document says what the data of each event is.
        for (const { name: event, data } of reader.read(text)) {
          // The credential ended, which the next request is told, too.
          if (event === "error") continue;
          onEvent({ name: event, data: JSON.parse(data) } as StreamEvent<Name>);
        }
      }
    } catch (error) {
      problem = error instanceof ApiProblem ? error : undefined;
      const isRefused = problem !== undefined && problem.status >= 400 && problem.status < 500;
      if (isRefused && problem?.status !== 429) throw error;
    } finally {
      hidden.stop();
    }
    reader.reset();
    if (signal.aborted) return;
    if (hidden.signal.aborted) continue;
    onState({ kind: "broken", problem });
    const pauseMs = PAUSES_MS[Math.min(failures, PAUSES_MS.length - 1)];
    failures += 1;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

async function* textOf(body: Response["body"]): AsyncGenerator<string> {
  if (body === null) return;
  const pieces = body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const due = setTimeout(() => void pieces.cancel(), SILENT_MS);
    const piece = await pieces.read().finally(() => clearTimeout(due));
    if (piece.done) return;
    yield piece.value;
  }
}

/** Aborts when the page goes out of sight. */
function whenHidden() {
  const left = new AbortController();
  const look = () => {
    if (document.hidden) left.abort();
  };
  document.addEventListener("visibilitychange", look);
  return { signal: left.signal, stop: () => document.removeEventListener("visibilitychange", look) };
}

/** Resolves when the page is in sight, or nobody waits any more. */
async function untilSeen(signal: AbortSignal): Promise<void> {
  if (!document.hidden || signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const over = new AbortController();
  const seen = () => document.hidden || resolve();
  document.addEventListener("visibilitychange", seen, { signal: over.signal });
  signal.addEventListener("abort", () => resolve(), { signal: over.signal });
  await promise;
  over.abort();
}
