import { lookup } from "node:dns/promises";
import { EgressError } from "../domain/ports/egress.ts";
import type { AddressGuard } from "./address.ts";
import type { Destination, Use } from "./destination.ts";

/** All addresses of a host name, in the order they should be tried. */
export type Resolve = (host: string) => Promise<readonly string[]>;

export const systemResolve: Resolve = async (host) =>
  (await lookup(host, { all: true })).map(({ address }) => address);

/** More are not tried: a name with many dead addresses should not cost more than one with a few. */
const MAX_ADDRESSES = 4;

/**
 * The addresses to connect to, each of them checked. One look-up: nothing is resolved again between here and the connection.
 *
 * @throws EgressError `forbidden` when any address of the name may not be reached: a name that mixes public and other
 *   addresses is an attack, or a mistake that would leak
 */
export async function checkedAddresses(
  deps: { resolve: Resolve; guard: AddressGuard },
  destination: Destination,
  use: Use,
): Promise<readonly string[]> {
  const { host, isLiteral, url } = destination;
  const addresses = isLiteral ? [host] : await deps.resolve(host).catch(unresolved);
  if (addresses.length === 0) throw unreachable();
  const verdicts = addresses.map(deps.guard.judge);
  if (verdicts.some(({ kind }) => kind === "denied")) {
    throw new EgressError("forbidden", "points to an address that is not public");
  }
  if (use === "media" && url.protocol === "http:" && !verdicts.every(({ kind }) => kind === "allowed")) {
    throw new EgressError("forbidden", "must be an https URL");
  }
  return addresses.slice(0, MAX_ADDRESSES);
}

function unresolved(error: unknown): never {
  throw unreachable(error);
}

function unreachable(cause?: unknown): EgressError {
  return new EgressError("unreachable", "names a host that cannot be found", cause);
}
