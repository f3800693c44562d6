import type { Delivery } from "../domain/callback.ts";
import { CALLBACK_EXCERPT_BYTES } from "../domain/limits.ts";
import { type CallbackPost, EgressError } from "../domain/ports/egress.ts";
import type { AddressGuard } from "./address.ts";
import { type After, orAborted, startDeadline } from "./deadline.ts";
import { readDestination } from "./destination.ts";
import type { EgressLimits } from "./limits.ts";
import { fetchPinned } from "./pinned.ts";
import { checkedAddresses, type Resolve } from "./resolve.ts";
import { retryAfterMs } from "./retry-after.ts";

export interface EgressDeps {
  readonly guard: AddressGuard;
  readonly resolve: Resolve;
  readonly after: After;
  readonly limits: EgressLimits;
  readonly ca: string | undefined;
}

const HEADERS = { "Content-Type": "application/json", "User-Agent": "Service-Callback/1.0" };
/** Set above or in the request itself, or about the connection: nobody else's to say. */
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
  const deadline = startDeadline(deps.after, deps.limits.callbackMs, signal);
  let address: string | undefined;
  try {
    const headers = headersOf(post);
    const checked = checkedAddresses(deps, destination, "callback", deadline.signal);
    const response = await fetchPinned(destination, await orAborted(checked, deadline.signal), {
      method: "POST",
      headers,
      body: post.body,
      signal: deadline.signal,
      onAddress: (tried) => {
        address = tried;
      },
      ca: deps.ca,
    });
    deadline.restart(deps.limits.callbackDrainMs);
    const excerpt = await drain(response, deps.limits.callbackAnswerBytes);
    const answer = { status: response.status, address, ...(excerpt === "" ? {} : { excerpt }) };
    if (response.ok) return { kind: "delivered", ...answer };
    return { kind: "refused", ...answer, retryAfterMs: retryAfterMs(response.headers) };
  } catch (error) {
    if (error instanceof EgressError && error.reason === "forbidden")
      return { kind: "forbidden", reason: error.message };
    return {
      kind: "unreachable",
      reason: deadline.hasPassed() ? "no answer in time" : reasonOf(error),
      address,
    };
  } finally {
    deadline.clear();
  }
}

/** The fixed headers, and beside them what the callback brings: nothing that could change the request's meaning. */
function headersOf({ headers = {} }: CallbackPost): { [name: string]: string } {
  const own = Object.entries(headers).filter(([name]) => !RESERVED.test(name));
  for (const [name, value] of own) {
    if (HEADER_NAME.test(name) && HEADER_VALUE.test(value)) continue;
    throw new EgressError("unreachable", `has a header that cannot be sent: ${JSON.stringify(name)}`);
  }
  return { ...Object.fromEntries(own), ...HEADERS };
}

/**
 * Takes a little of the answer and leaves the rest. The status has said all; a body that breaks off changes nothing.
 *
 * @returns how the body begins
 */
async function drain(response: Response, maxBytes: number): Promise<string> {
  const reader = response.body?.getReader();
  const beginning: Uint8Array[] = [];
  let sizeBytes = 0;
  try {
    while (reader !== undefined && sizeBytes < maxBytes) {
      const { done, value } = await reader.read();
      if (done) break;
      // A copy: a view would keep a large block in memory.
      if (sizeBytes < CALLBACK_EXCERPT_BYTES)
        beginning.push(value.slice(0, CALLBACK_EXCERPT_BYTES - sizeBytes));
      sizeBytes += value.length;
    }
  } catch {
    // What has come is all there is.
  } finally {
    await reader?.cancel().catch(() => undefined);
  }
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
