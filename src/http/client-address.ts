import { invalid } from "../domain/errors.ts";
import type { Addresses } from "../domain/ports/addresses.ts";
import type { Connection } from "./exchange.ts";

/** The proxies in front of this service that it trusts. */
export interface ProxyTrust {
  readonly addresses: Addresses;
  /** Ranges of reverse proxies' addresses. */
  readonly trustedProxies: readonly string[];
}

const HOST = /^[A-Za-z0-9._-]+(?::\d{1,5})?$|^\[[0-9a-fA-F:.]+\](?::\d{1,5})?$/;
const PORT = /^(?:\[([^[\]]*)\]|([^:]*))(?::\d{1,5})?$/;

/**
 * The address of the client that sent a request. It is the socket's address, unless that is a trusted proxy's. Then
 * `X-Forwarded-For` is read from the right, where each proxy appended the address of its own client, up to the first address that
 * is not a trusted proxy's, or the left-most if all are. A client can forge everything further left.
 *
 * @returns undefined when the socket is gone, and when a trusted proxy gives something that is not an address (`unknown`): using
 *   the proxy's own address instead would admit clients that are not allowed
 */
export function clientAddressOf(
  { addresses, trustedProxies }: ProxyTrust,
  request: Request,
  connection: Connection,
): string | undefined {
  const socket = socketAddressOf(addresses, connection);
  const isTrusted = (address: string) => addresses.isWithin(address, trustedProxies);
  if (socket === undefined || trustedProxies.length === 0 || !isTrusted(socket)) return socket;
  const entries = (request.headers.get("x-forwarded-for") ?? "").split(",").map((entry) => entry.trim());
  let client = socket;
  // Empty entries are ignored (RFC 9110, 5.6.1).
  for (const entry of entries.filter((each) => each !== "").reverse()) {
    const address = addresses.canonical(withoutPort(entry));
    if (address === undefined || !isTrusted(address)) return address;
    client = address;
  }
  return client;
}

/**
 * Scheme and host by which the caller reaches this service: the operator's setting, else a trusted proxy's forwarded headers,
 * else the request's own. If there are several values, the left-most counts. A caller who forges it only changes the URLs in
 * its own answers, as with Host.
 * @throws AppError `invalid_request` without a usable Host header
 */
export function originOf(
  trust: ProxyTrust & { readonly publicUrl?: string | undefined },
  request: Request,
  connection: Connection,
): string {
  if (trust.publicUrl !== undefined) return trust.publicUrl;
  const { headers } = request;
  const isForwarded = isFromTrustedProxy(trust, connection);
  const protocol = isForwarded ? firstOf(headers.get("x-forwarded-proto"))?.toLowerCase() : undefined;
  const forwardedHost = isForwarded ? firstOf(headers.get("x-forwarded-host")) : undefined;
  const host = usable(forwardedHost) ?? usable(headers.get("host"));
  if (host !== undefined) return `${protocol === "https" ? "https" : "http"}://${host}`;
  throw invalid({ kind: "host_malformed" });
}

function usable(host: string | null | undefined): string | undefined {
  return host && HOST.test(host) ? host : undefined;
}

function isFromTrustedProxy({ addresses, trustedProxies }: ProxyTrust, connection: Connection): boolean {
  if (trustedProxies.length === 0) return false;
  const socket = socketAddressOf(addresses, connection);
  return socket !== undefined && addresses.isWithin(socket, trustedProxies);
}

function socketAddressOf(addresses: Addresses, connection: Connection): string | undefined {
  const address = connection.address();
  return address === undefined ? undefined : addresses.canonical(address);
}

/**
 * Removes what is not the address from `192.0.2.1:443`, `[2001:db8::1]:443` and `[2001:db8::1]`; anything else stays as it is.
 */
function withoutPort(entry: string): string {
  const [, bracketed, plain] = PORT.exec(entry) ?? [];
  if (bracketed?.includes(":")) return bracketed;
  return plain ?? entry;
}

function firstOf(list: string | null): string | undefined {
  return list?.split(",", 1)[0]?.trim();
}
