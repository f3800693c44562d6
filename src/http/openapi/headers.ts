import type { JsonObject } from "../../domain/json.ts";
import { integer, type Schema, text } from "../wire/schema.ts";
import { amount } from "../wire/values.ts";

const HEADERS = {
  "X-Request-ID": text(
    "Identifies the request, in the log too. A caller's own is kept when it is 1 to 128 of `A-Za-z0-9._-`.",
  ),
  "X-Request-Cost": amount("What was held for a task, or charged for a finished one, in USD."),
  "X-Idempotent-Replay": text("The answer to the first request with this `Idempotency-Key`, again.", {
    const: "true",
  }),
  "X-Task-Id": text("The task behind the call."),
  "X-Svc-Adjusted": text(
    "The fields of the request that the model could not meet exactly, `size, quality`; the answer says what was made.",
  ),
  "Preference-Applied": text(
    "The wait that was applied, in seconds, where it is not the usual one: `wait=60`.",
  ),
  "Retry-After": integer("Seconds to wait before the next try.", { minimum: 0 }),
  "retry-after-ms": integer("The same in milliseconds.", { minimum: 0 }),
  "x-should-retry": text("Whether a client library should send the request again by itself.", {
    enum: ["true", "false"],
  }),
  RateLimit: text('What is left of the limit, `"requests";r=59;t=60`. Only for keys that have one.'),
  "RateLimit-Policy": text('The limit, `"requests";q=60;w=60`. Only for keys that have one.'),
  "WWW-Authenticate": text("`Bearer`."),
  Allow: text("The methods the path takes."),
  ETag: text("Names the content."),
  "Cache-Control": text("How long the content may be kept."),
  Location: text("Where it is, for a while."),
  "Set-Cookie": text("The session, for the browser alone."),
  "Last-Modified": text("When the file was stored."),
  "Accept-Ranges": text("`bytes`."),
  "Content-Range": text("Which bytes these are, of how many."),
  "X-Goog-Upload-URL": text("Where the content goes."),
  "X-Goog-Upload-Status": text("`active`, `final` or `cancelled`."),
  "X-Goog-Upload-Size-Received": text("How many bytes have come."),
  "Content-Length": integer("Size in bytes.", { minimum: 0 }),
} as const satisfies Record<string, Schema>;
export type HeaderName = keyof typeof HEADERS;

/** `components.headers`. */
export function headerComponents(): JsonObject {
  return Object.fromEntries(
    Object.entries(HEADERS).map(([name, { description, ...schema }]) => [name, { description, schema }]),
  );
}
