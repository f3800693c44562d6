import { readFileSync } from "node:fs";
import { hostname, networkInterfaces } from "node:os";
import { isWithin, parseAddress, parseRange, unwrapAddress } from "../toolkit/address-ranges.ts";

/** Where this service is reached. */
export interface Listening {
  readonly host: string;
  readonly port: number | undefined;
  readonly longPort: number | undefined;
  /** An origin. */
  readonly publicUrl: string | undefined;
}

/**
 * Whether a URL leads to this service itself: its public origin, or one of its ports at an address or a name of this machine.
 * Names count if they are in the hosts file; others are not looked up, so that a start waits for no name server.
 */
export function isOwnAddress(address: string, listening: Listening): boolean {
  const url = new URL(address);
  if (url.origin === listening.publicUrl) return true;
  const port = Number(url.port || (url.protocol === "https:" ? 443 : 80));
  if (port !== listening.port && port !== listening.longPort) return false;
  const name = url.hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
  if (parseAddress(name) !== undefined) return isOfThisMachine(name, listening.host);
  const own = [listening.host, hostname(), "localhost"].map((each) => each.toLowerCase());
  if (own.includes(name) || name.endsWith(".localhost")) return true;
  return addressesInHostsFile(name).some((each) => isOfThisMachine(each, listening.host));
}

const LOOPBACK_AND_UNSPECIFIED = ["127.0.0.0/8", "0.0.0.0/8", "::1/128", "::/128"];

function isOfThisMachine(text: string, listeningHost: string): boolean {
  const given = parseAddress(text);
  if (given === undefined) return false;
  const address = unwrapAddress(given);
  const ranges = LOOPBACK_AND_UNSPECIFIED.map(parseRange).filter((range) => range !== undefined);
  if (ranges.some((range) => isWithin(address, range))) return true;
  const own = Object.values(networkInterfaces()).flatMap((each = []) => each.map(({ address }) => address));
  return [listeningHost, ...own].some((each) => {
    const parsed = parseAddress(each.replace(/%.*/, ""));
    return parsed !== undefined && unwrapAddress(parsed).toString() === address.toString();
  });
}

function addressesInHostsFile(name: string): string[] {
  return readHostsFile()
    .split("\n")
    .map((line) => line.replace(/#.*/, "").trim().toLowerCase().split(/\s+/))
    .flatMap(([address = "", ...names]) => (names.includes(name) ? [address] : []));
}

function readHostsFile(): string {
  try {
    return readFileSync("/etc/hosts", "utf8");
  } catch {
    // Without one, no name is in it.
    return "";
  }
}
