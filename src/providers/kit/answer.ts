import type { Json } from "../../domain/json.ts";
import { readBounded } from "../../toolkit/bounded-body.ts";
import type { Deadline } from "../../toolkit/deadline.ts";
import { createEventReader, type EventTaker, isEventStream } from "./events.ts";
import { readJsonAnswer } from "./json-answer.ts";

export interface UpstreamAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** Undefined when the body is not JSON. */
  readonly json: Json | undefined;
  /** A file, for a request that takes one. It has no `json` and no `text`. */
  readonly bytes?: Uint8Array | undefined;
  /** Long base64 strings of `json`; `bytesOf` reads them. */
  readonly files?: ReadonlyMap<string, Uint8Array> | undefined;
  /** The beginning of a body that is not JSON. */
  readonly text?: string | undefined;
  /** Set for an event stream, whose events were passed on as they arrived. */
  readonly isEvents?: true | undefined;
}

interface Reading {
  readonly events?: EventTaker | undefined;
  /** Whether the body of a success is a file. */
  readonly bytes?: true | undefined;
  /** Reads the body of a success. */
  readonly read?: ((body: AsyncIterable<Uint8Array>) => Promise<Json | undefined>) | undefined;
  readonly maxBytes: number;
  /** The error for a body, or one event, of more than so many bytes. */
  readonly tooLarge: (bytes: number) => Error;
  readonly limits: { readonly answerMs: number; readonly bodyMs: number };
  readonly deadline: Deadline;
}

/** Reads an answer whose headers have come, as what it is: events, a file, JSON or text. */
export async function readAnswer(response: Response, reading: Reading): Promise<UpstreamAnswer> {
  const { limits, deadline, events, maxBytes, tooLarge } = reading;
  const { status, headers } = response;
  const late = "the rest of the answer did not come";
  const body = readBounded(response, { maxBytes, tooLarge: () => tooLarge(maxBytes) });
  if (events !== undefined && isEventStream(response)) {
    // The headers come at once; the upstream works while it sends the body.
    deadline.phase(limits.answerMs + limits.bodyMs, late);
    const reader = createEventReader(events, () => tooLarge(events.maxBytes));
    for await (const chunk of body) if (!reader.feed(chunk)) break;
    reader.end();
    return { status, headers, json: undefined, isEvents: true };
  }
  deadline.phase(limits.bodyMs, late);
  if (reading.read !== undefined && response.ok) return { status, headers, json: await reading.read(body) };
  if (reading.bytes !== true || !isFile(response))
    return { status, headers, ...(await readJsonAnswer(body)) };
  const bytes = await readFile(response, body);
  return { status, headers, json: undefined, ...(bytes.length === 0 ? { text: "" } : { bytes }) };
}

const NO_FILE = /^\s*(?:text\/|application\/(?:[\w.-]+\+)?json\b)/i;

/** Whether an answer is a success whose body is not said to be JSON or text. */
function isFile({ ok, headers }: Response): boolean {
  return ok && !NO_FILE.test(headers.get("content-type") ?? "");
}

/** Reads a file. One that says how long it is needs no second copy. */
async function readFile({ headers }: Response, body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const declared = Number(headers.get("content-length") ?? 0);
  if (!(declared > 0)) return Buffer.concat(await Array.fromAsync(body));
  let whole: Uint8Array | undefined;
  let length = 0;
  for await (const chunk of body) {
    // By now it is known that the limit allows for it.
    whole ??= new Uint8Array(declared);
    whole.set(chunk, length);
    length += chunk.length;
  }
  return whole ?? new Uint8Array(0);
}
