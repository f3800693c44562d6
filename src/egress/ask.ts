import type { IncomingMessage } from "node:http";
import { type CallbackPost, type EgressAnswer, EgressError } from "../domain/ports/egress.ts";
import { orAborted } from "../toolkit/deadline.ts";
import { type EgressDeps, reasonOf } from "./deliver.ts";
import { readDestination } from "./destination.ts";
import { untilConnected } from "./pinned.ts";
import { postTo } from "./post.ts";
import { checkedAddresses } from "./resolve.ts";

const HEADERS = { "Content-Type": "application/json", "User-Agent": "Service-Check/1.0" };

/** POSTs JSON to a service; see Egress.ask. */
export async function ask(
  deps: Pick<EgressDeps, "guard" | "resolve" | "ca">,
  text: string,
  { body, headers }: CallbackPost,
  { maxBytes, signal }: { readonly maxBytes: number; readonly signal: AbortSignal },
): Promise<EgressAnswer> {
  const destination = readDestination(text, "service", deps.guard);
  if ("refusal" in destination) throw new EgressError("forbidden", destination.refusal.clause);
  try {
    const addresses = await orAborted(checkedAddresses(deps, destination, "service", signal), signal);
    const request = { headers: { ...HEADERS, ...headers }, body, signal, ca: deps.ca };
    const posted = untilConnected(addresses, (address) => postTo(destination, address, request));
    const response = await orAborted(posted, signal);
    return { status: response.statusCode ?? 0, body: await orAborted(readWhole(response, maxBytes), signal) };
  } catch (error) {
    if (error instanceof EgressError) throw error;
    if (signal.aborted) throw new EgressError("timeout", "did not answer in time", error);
    throw new EgressError("unreachable", `could not be asked (${reasonOf(error)})`, error);
  }
}

/** @throws EgressError `too_large` as soon as more has arrived; `unreachable` for what breaks off */
function readWhole(response: IncomingMessage, maxBytes: number): Promise<Uint8Array> {
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
  const pieces: Uint8Array[] = [];
  let sizeBytes = 0;
  // Iteration would see the pieces only after all that arrived together are stored.
  response.on("data", (piece: Uint8Array) => {
    sizeBytes += piece.length;
    if (sizeBytes > maxBytes) {
      pieces.length = 0;
      reject(new EgressError("too_large", `answered with more than ${Math.floor(maxBytes / 1024)} KB`));
      response.destroy();
    } else pieces.push(piece);
  });
  response.on("end", () => resolve(Buffer.concat(pieces)));
  response.on("error", reject);
  response.on("close", () => reject(new EgressError("unreachable", "broke its answer off")));
  return promise;
}
