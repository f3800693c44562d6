import { AppError } from "../domain/errors.ts";
import type { Addresses } from "../domain/ports/addresses.ts";
import type { Connection } from "./exchange.ts";

/** Whom of those in front of this service it believes. */
export interface ProxyTrust {
  readonly addresses: Addresses;
  /** Ranges of reverse proxies' addresses. */
  readonly trustedProxies: readonly string[];
}

const HOST = /^[A-Za-z0-9._-]+(?::\d{1,5})?$|^\[[0-9a-fA-F:.]+\](?::\d{1,5})?$/;
const PORT = /^(?:\[([^[\]]*)\]|([^:]*))(?::\d{1,5})?$/;

/**
 * The address of whoever sent a request: the socket's, unless that is a trusted proxy's. Then `X-Forwarded-For` is read from the
 * right, where each proxy added the address it was asked from, up to the first that is not a trusted proxy's; the left-most,
 * if all are. What stands further left anybody can have written.
 *
 * @returns undefined when the socket is gone, and when a trusted proxy names as its caller what is no address (`unknown`): the
 *   proxy's own address would open what is closed to its callers
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
  // Empty entries mean nothing (RFC 9110, 5.6.1).
  for (const entry of entries.filter((each) => each !== "").reverse()) {
    const address = addresses.canonical(withoutPort(entry));
    if (address === undefined || !isTrusted(address)) return address;
    client = address;
  }
  return client;
}

/**
 * Scheme and host by which the caller reaches this service: what the operator said, else as the caller wrote them, of which a
 * trusted proxy may know better. Of several values the left-most counts; a caller who forges it changes URLs in his own answers,
 * as with Host.
 *
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
  const host = [forwardedHost, headers.get("host")].find((each) => each && HOST.test(each));
  if (host) return `${protocol === "https" ? "https" : "http"}://${host}`;
  throw new AppError("invalid_request", { kind: "host_malformed" });
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

/** `192.0.2.1:443`, `[2001:db8::1]:443` and `[2001:db8::1]` without what is not the address; all else as it is. */
function withoutPort(entry: string): string {
  const [, bracketed, plain] = PORT.exec(entry) ?? [];
  if (bracketed?.includes(":")) return bracketed;
  return plain ?? entry;
}

function firstOf(list: string | null): string | undefined {
  return list?.split(",", 1)[0]?.trim();
}
