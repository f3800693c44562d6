import type { IncomingMessage } from "node:http";
import { CALLBACK_HEADERS, type Delivery } from "../domain/callback/callback.ts";
import { CALLBACK_EXCERPT_BYTES } from "../domain/limits.ts";
import { type CallbackPost, EgressError } from "../domain/ports/egress.ts";
import { type After, orAborted, startDeadline } from "../toolkit/deadline.ts";
import { parseRetryAfterMs } from "../toolkit/retry-after.ts";
import type { AddressGuard } from "./address.ts";
import type { Line } from "./connections.ts";
import { type Destination, readDestination } from "./destination.ts";
import type { EgressLimits } from "./limits.ts";
import { untilConnected } from "./pinned.ts";
import { postTo } from "./post.ts";
import { checkedAddresses, type Resolve } from "./resolve.ts";

export interface EgressDeps {
  readonly guard: AddressGuard;
  readonly resolve: Resolve;
  readonly clock: { readonly after: After; readonly elapsed: () => number };
  readonly limits: EgressLimits;
  readonly ca: string | undefined;
  /** Of callbacks. */
  readonly lineTo: (destination: Destination) => Line;
}

/** Headers that describe the connection, or that only we set. */
const RESERVED =
  /^(accept|accept-encoding|connection|content-encoding|content-length|content-type|cookie|expect|host|keep-alive|te|trailer|transfer-encoding|upgrade|user-agent|proxy-.*)$/i;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e]*$/;

/** POSTs a callback; see Egress.deliver. */
export async function deliver(
  deps: EgressDeps,
  text: string,
  post: CallbackPost,
  signal: AbortSignal,
): Promise<Delivery> {
  const destination = readDestination(text, "callback", deps.guard);
  if ("refusal" in destination) return { kind: "forbidden", reason: destination.refusal.clause };
  const { clock, limits } = deps;
  const deadline = startDeadline(clock, signal);
  deadline.phase(limits.callbackMs, "no answer");
  let address: string | undefined;
  try {
    const headers = headersOf(post);
    const checked = checkedAddresses(deps, destination, "callback", deadline.signal);
    const addresses = await orAborted(checked, deadline.signal);
    const request = { headers, body: post.body, signal: deadline.signal, ca: deps.ca };
    const posted = untilConnected(addresses, (tried) => {
      address = tried;
      return postTo(destination, tried, { ...request, line: deps.lineTo(destination) });
    });
    const response = await orAborted(posted, deadline.signal);
    deadline.phase(limits.callbackDrainMs, "the rest of the answer did not come");
    const excerpt = await drain(response, limits.callbackAnswerBytes);
    const { statusCode: status = 0 } = response;
    const answer = { status, address, ...(excerpt === "" ? {} : { excerpt }) };
    if (status >= 200 && status <= 299) return { kind: "delivered", ...answer };
    return {
      kind: "refused",
      ...answer,
      retryAfterMs: parseRetryAfterMs((name) => response.headers[name]?.toString()),
    };
  } catch (error) {
    if (error instanceof EgressError && error.reason === "forbidden")
      return { kind: "forbidden", reason: error.message };
    return {
      kind: "unreachable",
      reason: deadline.hasPassed() ? "no answer in time" : reasonOf(error),
      address,
    };
  } finally {
    deadline.end();
  }
}

/** The callback's own headers, except those that could change the meaning of the request, and the fixed ones. */
function headersOf({ headers = {} }: CallbackPost): { [name: string]: string } {
  const own = Object.entries(headers).filter(([name]) => !RESERVED.test(name));
  for (const [name, value] of own) {
    if (HEADER_NAME.test(name) && HEADER_VALUE.test(value)) continue;
    throw new EgressError("unreachable", `has a header that cannot be sent: ${JSON.stringify(name)}`);
  }
  return { ...Object.fromEntries(own), ...CALLBACK_HEADERS };
}

/** Pieces read of an answer's body. An honest body comes in a few; many small ones cost more than they are worth. */
const MAX_PIECES = 256;

/**
 * Reads the beginning of an answer's body and drops the rest, or closes the connection where it is long. A truncated body changes
 * nothing, because the status decides.
 */
async function drain(response: IncomingMessage, maxBytes: number): Promise<string> {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const beginning: Uint8Array[] = [];
  let sizeBytes = 0;
  let pieces = 0;
  // Iteration would see the pieces only after all that arrived together are stored.
  response.on("data", (piece: Uint8Array) => {
    // A copy: a view would keep a large block in memory.
    if (sizeBytes < CALLBACK_EXCERPT_BYTES)
      beginning.push(new Uint8Array(piece.subarray(0, CALLBACK_EXCERPT_BYTES - sizeBytes)));
    sizeBytes += piece.length;
    pieces += 1;
    if (sizeBytes >= maxBytes || pieces >= MAX_PIECES) response.destroy();
  });
  // Whatever arrived before the error is kept.
  response.on("error", () => resolve());
  response.on("close", resolve);
  await closed;
  if (!response.complete) response.destroy();
  return printable(Buffer.concat(beginning), sizeBytes > CALLBACK_EXCERPT_BYTES);
}

/** Text that is safe to show: no control characters but line feed and tab, no character cut in half. */
function printable(bytes: Uint8Array, isCut: boolean): string {
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes, { stream: isCut });
  return text.replace(/(?![\n\t])\p{Cc}/gu, "\ufffd");
}

/** Why a connection failed, for the operator: the system's error code if there is one. */
export function reasonOf(error: unknown): string {
  if (error instanceof EgressError) return error.message;
  if (error instanceof Error && "code" in error && typeof error.code === "string") return error.code;
  return error instanceof Error ? error.name : "unknown";
}
