import {
  type Address,
  type AddressRange,
  isWithin,
  parseAddress,
  parseRange,
} from "../toolkit/address-ranges.ts";

/** Whether a connection may go to an address, and if not, why. */
export type Verdict =
  | { readonly kind: "public" }
  /** Not public, but allowed by the operator. */
  | { readonly kind: "allowed" }
  | { readonly kind: "denied"; readonly reason: string };

/**
 * IPv4 addresses that are not public: IANA's special-purpose registry, and what clouds reserve for their own machines.
 * https://www.iana.org/assignments/iana-ipv4-special-registry (checked 2026-11-21).
 */
const DENIED_V4 = ranges({
  "this network": ["0.0.0.0/8"],
  private: ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"],
  "carrier-grade NAT": ["100.64.0.0/10"],
  loopback: ["127.0.0.0/8"],
  "link-local": ["169.254.0.0/16"],
  // Azure's host agent: a public address that only machines inside the cloud can reach.
  "cloud metadata": ["168.63.129.16/32"],
  "protocol assignments": ["192.0.0.0/24"],
  documentation: ["192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24"],
  "6to4 relay": ["192.88.99.0/24"],
  "anycast to the nearest operator": ["192.31.196.0/24", "192.52.193.0/24", "192.175.48.0/24"],
  benchmarking: ["198.18.0.0/15"],
  multicast: ["224.0.0.0/4"],
  reserved: ["240.0.0.0/4"],
});

/** The only block from which public IPv6 addresses are assigned. */
const PUBLIC_V6 = range("2000::/3");

/**
 * IPv6 addresses that are not public, and IPv4 inside IPv6. The first match counts.
 * https://www.iana.org/assignments/iana-ipv6-special-registry (checked 2026-11-21).
 */
const DENIED_V6 = ranges({
  unspecified: ["::/128"],
  loopback: ["::1/128"],
  "IPv4 inside IPv6": [
    "::ffff:0:0/96",
    "::ffff:0:0:0/96",
    "::/96",
    "64:ff9b::/96",
    "64:ff9b:1::/48",
    "2002::/16",
  ],
  "a Teredo tunnel": ["2001::/32"],
  "protocol assignments": ["2001::/23"],
  documentation: ["2001:db8::/32", "3fff::/20"],
  "anycast to the nearest operator": ["2620:4f:8000::/48"],
  "given back": ["3ffe::/16"],
  "unique local": ["fc00::/7"],
  "link-local": ["fe80::/10"],
  "site-local": ["fec0::/10"],
  multicast: ["ff00::/8"],
});

/**
 * Creates the address guard. It asks the operator's list first, then the public registries, then this machine's own addresses, which
 * are denied even if they are public. It denies an address that it cannot read.
 *
 * @param allow CIDR ranges that are allowed whatever they contain
 * @throws Error when `allow` is not a list of CIDR ranges
 */
export function createAddressGuard(allow: readonly string[], localAddresses: () => readonly string[]) {
  const allowed = allow.map(range);

  function judge(text: string): Verdict {
    const address = parseAddress(text);
    if (address === undefined) return { kind: "denied", reason: "not an address" };
    if (allowed.some((entry) => isWithin(address, entry))) return { kind: "allowed" };
    const reason = specialUse(address);
    if (reason !== undefined) return { kind: "denied", reason };
    const isLocal = localAddresses().some((local) => isSame(parseAddress(local), address));
    return isLocal ? { kind: "denied", reason: "this machine" } : { kind: "public" };
  }

  return { judge, allowsAny: allowed.length > 0 };
}

export type AddressGuard = ReturnType<typeof createAddressGuard>;

/** Why an address is not public; undefined for a public one. */
function specialUse(address: Address): string | undefined {
  if (address.kind() === "ipv4") return firstMatch(address, DENIED_V4);
  const reason = firstMatch(address, DENIED_V6);
  if (reason !== undefined) return reason;
  if (!isWithin(address, PUBLIC_V6)) return "reserved";
  return isIsatap(address) ? "IPv4 inside IPv6" : undefined;
}

/** Whether the lower half holds an IPv4 address marked by 0000:5efe or 0200:5efe (RFC 5214). */
function isIsatap(address: Address): boolean {
  const bytes = address.toByteArray();
  return ((bytes[8] ?? 0) & 0xfd) === 0 && bytes[9] === 0 && bytes[10] === 0x5e && bytes[11] === 0xfe;
}

function firstMatch(
  address: Address,
  table: readonly (readonly [string, readonly AddressRange[]])[],
): string | undefined {
  return table.find(([, entries]) => entries.some((entry) => isWithin(address, entry)))?.[0];
}

function isSame(one: Address | undefined, other: Address): boolean {
  return one?.toNormalizedString() === other.toNormalizedString();
}

function ranges(table: { readonly [reason: string]: readonly string[] }) {
  return Object.entries(table).map(([reason, entries]) => [reason, entries.map(range)] as const);
}

function range(text: string): AddressRange {
  const read = parseRange(text);
  if (read === undefined) throw new Error(`${text} is no address range.`);
  return read;
}
