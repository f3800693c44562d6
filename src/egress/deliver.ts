import type { IncomingMessage } from "node:http";
import { CALLBACK_HEADERS, type Delivery } from "../domain/callback/callback.ts";
import { CALLBACK_EXCERPT_BYTES } from "../domain/limits.ts";
import { type CallbackPost, EgressError } from "../domain/ports/egress.ts";
import { type After, orAborted, startDeadline } from "../toolkit/deadline.ts";
import { parseRetryAfterMs } from "../toolkit/retry-after.ts";
import type { AddressGuard } from "./address.ts";
import { readDestination } from "./destination.ts";
import type { EgressLimits } from "./limits.ts";
import { untilConnected } from "./pinned.ts";
import { postTo } from "./post.ts";
import { checkedAddresses, type Resolve } from "./resolve.ts";

export interface EgressDeps {
  readonly guard: AddressGuard;
  readonly resolve: Resolve;
  readonly clock: { readonly after: After };
  readonly limits: EgressLimits;
  readonly ca: string | undefined;
}

/** Set by us or in the request itself, or about the connection: nobody else's to say. */
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
  if ("refusal" in destination) return { kind: "forbidden", reason: destination.refusal };
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
      return postTo(destination, tried, request);
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

/** The fixed headers, and beside them what the callback brings: nothing that could change the request's meaning. */
function headersOf({ headers = {} }: CallbackPost): { [name: string]: string } {
  const own = Object.entries(headers).filter(([name]) => !RESERVED.test(name));
  for (const [name, value] of own) {
    if (HEADER_NAME.test(name) && HEADER_VALUE.test(value)) continue;
    throw new EgressError("unreachable", `has a header that cannot be sent: ${JSON.stringify(name)}`);
  }
  return { ...Object.fromEntries(own), ...CALLBACK_HEADERS };
}

/** Of an answer's body: an honest one comes in a few, and each of many small ones costs more than it brings. */
const MAX_PIECES = 256;

/**
 * Takes a little of the answer and leaves the rest. The status has said all; a body that breaks off changes nothing.
 *
 * @returns how the body begins
 */
async function drain(response: IncomingMessage, maxBytes: number): Promise<string> {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const beginning: Uint8Array[] = [];
  let sizeBytes = 0;
  let pieces = 0;
  // Not by iteration, which is told of pieces only once all that came together were stored.
  response.on("data", (piece: Uint8Array) => {
    // A copy: a view would keep a large block in memory.
    if (sizeBytes < CALLBACK_EXCERPT_BYTES)
      beginning.push(new Uint8Array(piece.subarray(0, CALLBACK_EXCERPT_BYTES - sizeBytes)));
    sizeBytes += piece.length;
    pieces += 1;
    if (sizeBytes >= maxBytes || pieces >= MAX_PIECES) response.destroy();
  });
  // What has come by then is all there is.
  response.on("error", () => resolve());
  response.on("close", resolve);
  await closed;
  response.destroy();
  return printable(Buffer.concat(beginning), sizeBytes > CALLBACK_EXCERPT_BYTES);
}

/** Bytes as text that is safe to show: no control characters but line feed and tab, no half a character where it was cut. */
function printable(bytes: Uint8Array, isCut: boolean): string {
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes, { stream: isCut });
  return text.replace(/(?![\n\t])\p{Cc}/gu, "\ufffd");
}

/** What went wrong with a connection, for the operator: a system's error code where there is one. */
export function reasonOf(error: unknown): string {
  if (error instanceof EgressError) return error.message;
  if (error instanceof Error && "code" in error && typeof error.code === "string") return error.code;
  return error instanceof Error ? error.name : "unknown";
}
