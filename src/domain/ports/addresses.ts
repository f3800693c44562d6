/** What is known of IP addresses and of ranges of them. */
export interface Addresses {
  /**
   * The one way an address is written: IPv4 as four decimal parts, also where IPv6 only wraps it; IPv6 as RFC 5952 has it,
   * without a zone.
   *
   * @returns undefined for what is no address
   */
  canonical(text: string): string | undefined;
  /**
   * The one way a range is written, `192.168.1.0/24`; an address alone is the range of itself.
   *
   * @returns undefined for what is no range
   */
  range(text: string): string | undefined;
  /** Whether an address is in one of the ranges. IPv4 wrapped in IPv6 counts as IPv4; what is no address is in none. */
  isWithin(address: string, ranges: readonly string[]): boolean;
}
