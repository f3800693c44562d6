import { isIPv6 } from "node:net";
import type { Destination } from "./destination.ts";

export interface PinnedRequest {
  readonly headers: { readonly [name: string]: string };
  readonly signal: AbortSignal;
  /** PEM of the authorities to trust instead of the public ones. */
  readonly ca?: string | undefined;
}

/** Errors of a connection that never opened, so that nothing was sent. */
const NOT_CONNECTED = new Set(["ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH", "EADDRNOTAVAIL", "ENETDOWN"]);

/**
 * GETs from the first of the given addresses that accepts the connection, and from no other address. The URL that is
 * fetched holds the address; the name goes into `Host` and into the certificate check.
 *
 * Returns redirects unfollowed, uses no proxy and unpacks nothing. The connection is not reused, which also keeps the
 * runtime from sending a request twice.
 */
export async function fetchPinned(
  { url, host, isLiteral }: Destination,
  addresses: readonly string[],
  request: PinnedRequest,
): Promise<Response> {
  const { signal, ca } = request;
  const isSecure = url.protocol === "https:";
  const serverName = isLiteral ? {} : { serverName: host.replace(/\.$/, "") };
  const options: BunFetchRequestInit = {
    headers: { ...request.headers, Host: url.host, "Accept-Encoding": "identity" },
    signal,
    redirect: "manual",
    keepalive: false,
    proxy: false,
    decompress: false,
    ...(isSecure
      ? {
          protocol: "http1.1",
          tls: { ...serverName, rejectUnauthorized: true, ...(ca === undefined ? {} : { ca }) },
        }
      : {}),
  };
  return untilConnected(addresses, (address) => {
    const pinned = new URL(url);
    pinned.hostname = isIPv6(address) ? `[${address}]` : address;
    pinned.hash = "";
    return fetch(pinned, options);
  });
}

/** Sends to each address in turn until one accepts the connection. After that, no other is tried. */
export async function untilConnected<T>(
  addresses: readonly string[],
  send: (address: string) => Promise<T>,
): Promise<T> {
  let failure: unknown;
  for (const address of addresses) {
    try {
      return await send(address);
    } catch (error) {
      if (!NOT_CONNECTED.has(codeOf(error))) throw error;
      failure = error;
    }
  }
  throw failure;
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
