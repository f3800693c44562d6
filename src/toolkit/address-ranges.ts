import ipaddr from "ipaddr.js";
import { isIP } from "./is-ip.ts";

export type Address = ipaddr.IPv4 | ipaddr.IPv6;
export type AddressRange = readonly [network: Address, bits: number];

/** Bits before the IPv4 address in an IPv6 address that wraps one, `::ffff:0:0/96`. */
const MAPPED_BITS = 96;

/** Reads four decimal parts without leading zeros, or IPv6 without a zone; refuses what else ipaddr.js accepts. */
export function parseAddress(text: string): Address | undefined {
  return isIP(text) === 0 || text.includes("%") ? undefined : ipaddr.parse(text);
}

/** Reads `192.168.1.0/24`; an address alone is the range of itself. */
export function parseRange(text: string): AddressRange | undefined {
  const [, first = "", length] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const network = parseAddress(first);
  if (network === undefined) return undefined;
  const size = network.kind() === "ipv4" ? 32 : 128;
  const bits = length === undefined ? size : Number(length);
  return bits <= size ? [network, bits] : undefined;
}

/** Whether an address is in a range of its own family: a range of IPv4 says nothing about IPv6 that wraps it. */
export function isWithin(address: Address, [network, bits]: AddressRange): boolean {
  return address.kind() === network.kind() && address.match([network, bits]);
}

/** IPv4 for IPv6 that wraps it (`::ffff:0:0/96`), else the address itself. */
export function unwrapAddress(address: Address): Address {
  return address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
}

/** A range of IPv4 for one of IPv6 that wraps it, else the range itself. */
export function unwrapRange([network, bits]: AddressRange): AddressRange {
  const inner = unwrapAddress(network);
  return bits < MAPPED_BITS || inner === network ? [network, bits] : [inner, bits - MAPPED_BITS];
}

/** The one way a range is written: its first address and its bits. */
export function formatRange([network, bits]: AddressRange): string {
  const text = `${network}/${bits}`;
  const first =
    network.kind() === "ipv4"
      ? ipaddr.IPv4.networkAddressFromCIDR(text)
      : ipaddr.IPv6.networkAddressFromCIDR(text);
  return `${first}/${bits}`;
}
