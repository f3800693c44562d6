import type { Addresses } from "../domain/ports/addresses.ts";
import {
  type Address,
  type AddressRange,
  formatRange,
  isWithin,
  parseAddress,
  parseRange,
  unwrapAddress,
  unwrapRange,
} from "../toolkit/address-ranges.ts";
import { isIP } from "../toolkit/is-ip.ts";

/** How many addresses' own forms are remembered. Every request asks for one, and reading it takes as long as the rest of its way in. */
const MOST_REMEMBERED = 1_000;
/** No address is longer; one with a zone may be. */
const LONGEST_REMEMBERED = 45;

/** Of an IPv6 address: a subscriber chooses the other bits (RFC 6177 gives each at least as many). */
const SUBSCRIBER_BITS = 64;

/** Reads each list of ranges once, for as long as the list itself is kept. */
export function createAddresses(): Addresses {
  const lists = new WeakMap<readonly string[], readonly AddressRange[]>();

  function rangesOf(list: readonly string[]): readonly AddressRange[] {
    const known = lists.get(list);
    if (known !== undefined) return known;
    const ranges = list.map(readRange).filter((range) => range !== undefined);
    lists.set(list, ranges);
    return ranges;
  }

  const canonicals = new Map<string, string>();

  function canonical(text: string): string | undefined {
    const known = canonicals.get(text);
    if (known !== undefined) return known;
    const form = readAddress(text)?.toString();
    if (form !== undefined && text.length <= LONGEST_REMEMBERED) {
      if (canonicals.size >= MOST_REMEMBERED) canonicals.clear();
      canonicals.set(text, form);
    }
    return form;
  }

  return {
    canonical,
    range(text) {
      const range = readRange(text);
      return range && formatRange(range);
    },
    isWithin(text, list) {
      const address = readAddress(text);
      return address !== undefined && rangesOf(list).some((range) => isWithin(address, range));
    },
    subscriber(text) {
      const address = readAddress(text);
      return address?.kind() === "ipv6" ? formatRange([address, SUBSCRIBER_BITS]) : text;
    },
  };
}

/** The zone of an address says which interface it is reached by, and nothing about the address. */
function readAddress(text: string): Address | undefined {
  const address = isIP(text) === 0 ? undefined : parseAddress(text.replace(/%.*/s, ""));
  return address && unwrapAddress(address);
}

function readRange(text: string): AddressRange | undefined {
  const range = parseRange(text);
  return range && unwrapRange(range);
}
