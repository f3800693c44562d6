import { isIP } from "node:net";
import type { EgressRefusal } from "../domain/ports/egress.ts";
import type { AddressGuard } from "./address.ts";

/** The purpose of a request. All but callbacks go over plain http only to addresses that the operator allows. */
export type Use = "callback" | "media" | "service";

/** A URL that passed every check that needs no look-up. */
export interface Destination {
  readonly url: URL;
  /** Without brackets; a name or an address. */
  readonly host: string;
  readonly isLiteral: boolean;
}

/** Ports no browser connects to. https://fetch.spec.whatwg.org/#bad-port (checked 2026-11-21). */
const BLOCKED_PORTS = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104,
  109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515,
  526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049,
  3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
]);

/** Reads a URL that a caller gave. @returns the destination, or why it is refused */
export function readDestination(
  text: string,
  use: Use,
  guard: AddressGuard,
): Destination | { refusal: EgressRefusal } {
  const url = URL.parse(text);
  if (url === null) return { refusal: never("is not a valid URL") };
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    return { refusal: never(use === "callback" ? "must be an http or https URL" : "must be an https URL") };
  }
  if (url.username !== "" || url.password !== "")
    return { refusal: never("must not contain a user name or password") };
  if (url.port !== "" && BLOCKED_PORTS.has(Number(url.port)))
    return { refusal: never(`names port ${url.port}, which is not allowed`) };
  const host = url.hostname.replace(/^\[|\]$/g, "");
  if (host === "") return { refusal: never("names no host") };
  const isLiteral = isIP(host) !== 0;
  const mustBeAllowed = use !== "callback" && url.protocol === "http:";
  const fault = isLiteral ? addressFault(host, mustBeAllowed, guard) : nameFault(host, mustBeAllowed, guard);
  return fault === undefined ? { url, host, isLiteral } : { refusal: fault };
}

const never = (clause: string): EgressRefusal => ({ clause, isAllowable: false });
const unlessAllowed = (clause: string): EgressRefusal => ({ clause, isAllowable: true });

function addressFault(host: string, mustBeAllowed: boolean, guard: AddressGuard): EgressRefusal | undefined {
  const { kind } = guard.judge(host);
  if (kind === "denied") return unlessAllowed(`names the address ${host}, which is not public`);
  return mustBeAllowed && kind !== "allowed" ? unlessAllowed("must be an https URL") : undefined;
}

function nameFault(host: string, mustBeAllowed: boolean, guard: AddressGuard): EgressRefusal | undefined {
  if (mustBeAllowed && !guard.allowsAny) return unlessAllowed("must be an https URL");
  // Resolvers may answer these names themselves (RFC 6761).
  const isLocal = /^(.+\.)?localhost\.?$/i.test(host);
  const isLetThrough = ["127.0.0.1", "::1"].some((address) => guard.judge(address).kind === "allowed");
  return isLocal && !isLetThrough ? unlessAllowed(`names the host ${host}, which is not public`) : undefined;
}
