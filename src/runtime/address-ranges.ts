import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import type { Addresses } from "../domain/ports/addresses.ts";

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Range = readonly [network: Address, bits: number];

/** Bits before the IPv4 address in an IPv6 address that wraps one, `::ffff:0:0/96`. */
const MAPPED_BITS = 96;

/** Addresses and ranges by ipaddr.js. A list of ranges is read once, for as long as the list itself is kept. */
export function createAddresses(): Addresses {
  const lists = new WeakMap<readonly string[], readonly Range[]>();

  function rangesOf(list: readonly string[]): readonly Range[] {
    const known = lists.get(list);
    if (known !== undefined) return known;
    const ranges = list.map(parseRange).filter((range) => range !== undefined);
    lists.set(list, ranges);
    return ranges;
  }

  return {
    canonical: (text) => parseAddress(text)?.toString(),
    range(text) {
      const range = parseRange(text);
      return range && `${networkOf(range)}/${range[1]}`;
    },
    isWithin(text, list) {
      const address = parseAddress(text);
      return address !== undefined && rangesOf(list).some((range) => matches(address, range));
    },
  };
}

function matches(address: Address, [network, bits]: Range): boolean {
  return address.kind() === network.kind() && address.match([network, bits]);
}

/** Four decimal parts without leading zeros, or IPv6 with or without a zone; nothing of what else ipaddr.js would read. */
function parseAddress(text: string): Address | undefined {
  if (isIP(text) === 0) return undefined;
  return ipaddr.process(text.split("%", 1)[0] ?? text);
}

function parseRange(text: string): Range | undefined {
  const [, address = "", length] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const version = isIP(address);
  if (version === 0) return undefined;
  const bits = length === undefined ? (version === 4 ? 32 : 128) : Number(length);
  if (bits > (version === 4 ? 32 : 128)) return undefined;
  const network = ipaddr.parse(address);
  if (!(network instanceof ipaddr.IPv6) || !network.isIPv4MappedAddress() || bits < MAPPED_BITS) {
    return [network, bits];
  }
  return [network.toIPv4Address(), bits - MAPPED_BITS];
}

/** The first address of a range: what is written where somebody gave another one of it. */
function networkOf([network, bits]: Range): string {
  const text = `${network.toString()}/${bits}`;
  const first =
    network.kind() === "ipv4"
      ? ipaddr.IPv4.networkAddressFromCIDR(text)
      : ipaddr.IPv6.networkAddressFromCIDR(text);
  return first.toString();
}
