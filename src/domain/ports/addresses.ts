/** Reads IP addresses and ranges of them. */
export interface Addresses {
  /**
   * The canonical form of an address: IPv4 as four decimal parts, even if mapped to IPv6; IPv6 as in RFC 5952, without a zone.
   *
   * @returns undefined for anything else
   */
  canonical(text: string): string | undefined;
  /**
   * The canonical form of a range, `192.168.1.0/24`. A single address is a range of one.
   *
   * @returns undefined for anything else
   */
  range(text: string): string | undefined;
  /** Whether an address is in one of the ranges. IPv4 mapped to IPv6 counts as IPv4. Any other text is in no range. */
  isWithin(address: string, ranges: readonly string[]): boolean;
  /**
   * What one subscriber has at least, for counts by address: an IPv4 address, or the /64 of an IPv6 address. Any other text
   * stays as it is.
   */
  subscriber(address: string): string;
}
