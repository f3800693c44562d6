import { parseAddress, unwrapAddress } from "../../toolkit/address-ranges.ts";

/**
 * The address that an upstream is told to call. An upstream on the internet refuses others than https at a public host, and refuses the
 * job with them, so it is told of none.
 */
export function hookFor(baseUrl: string, hookUrl: string | undefined): string | undefined {
  if (hookUrl === undefined || isPublic(hookUrl) || !isPublic(baseUrl)) return hookUrl;
  return undefined;
}

/** Names that lead nowhere from outside (RFC 6761, RFC 6762, and the name that networks of companies use). */
const INSIDE = /(?:^|\.)(?:localhost|local|internal|lan|home\.arpa|test|invalid)$/;

function isPublic(text: string): boolean {
  const { protocol, hostname } = new URL(text);
  const host = hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
  const address = parseAddress(host);
  if (protocol !== "https:") return false;
  if (address !== undefined) return unwrapAddress(address).range() === "unicast";
  return host.includes(".") && !INSIDE.test(host);
}
