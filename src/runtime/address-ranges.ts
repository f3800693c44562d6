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

  return {
    canonical: (text) => readAddress(text)?.toString(),
    range(text) {
      const range = readRange(text);
      return range && formatRange(range);
    },
    isWithin(text, list) {
      const address = readAddress(text);
      return address !== undefined && rangesOf(list).some((range) => isWithin(address, range));
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
