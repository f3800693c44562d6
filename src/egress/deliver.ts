import type { Delivery } from "../domain/callback.ts";
import { EgressError } from "../domain/ports/egress.ts";
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

/** POSTs a callback; see Egress.deliver. */
export async function deliver(
  deps: EgressDeps,
  text: string,
  body: string,
  signal: AbortSignal,
): Promise<Delivery> {
  const destination = readDestination(text, "callback", deps.guard);
  if ("refusal" in destination) return { kind: "forbidden", reason: destination.refusal };
  const deadline = startDeadline(deps.after, deps.limits.callbackMs, signal);
  try {
    const addresses = await orAborted(checkedAddresses(deps, destination, "callback"), deadline.signal);
    const request = { method: "POST", headers: HEADERS, body, signal: deadline.signal, ca: deps.ca } as const;
    const response = await fetchPinned(destination, addresses, request);
    deadline.restart(deps.limits.callbackDrainMs);
    await drain(response, deps.limits.callbackAnswerBytes);
    const { status } = response;
    if (status >= 200 && status <= 299) return { kind: "delivered", status };
    return { kind: "refused", status, retryAfterMs: retryAfterMs(response.headers) };
  } catch (error) {
    if (error instanceof EgressError && error.reason === "forbidden")
      return { kind: "forbidden", reason: error.message };
    return { kind: "unreachable", reason: deadline.hasPassed() ? "no answer in time" : reasonOf(error) };
  } finally {
    deadline.clear();
  }
}

/** Takes a little of the answer and leaves the rest. The status has said all; a body that breaks off changes nothing. */
async function drain(response: Response, maxBytes: number): Promise<void> {
  const reader = response.body?.getReader();
  if (reader === undefined) return;
  try {
    for (let sizeBytes = 0; sizeBytes < maxBytes; ) {
      const { done, value } = await reader.read();
      if (done) return;
      sizeBytes += value.length;
    }
  } catch {
    return;
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** What went wrong with a connection, for the operator: a system's error code where there is one. */
export function reasonOf(error: unknown): string {
  if (error instanceof EgressError) return error.message;
  if (error instanceof Error && "code" in error && typeof error.code === "string") return error.code;
  return error instanceof Error ? error.name : "unknown";
}
