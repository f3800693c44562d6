import { EgressError } from "../domain/ports/egress.ts";
import type { AddressGuard } from "./address.ts";
import type { Destination, Use } from "./destination.ts";

/** Finds all addresses of a host name, in the order to try them. The signal ends the look-up. */
export type Resolve = (host: string, signal: AbortSignal) => Promise<readonly string[]>;

/** No more are tried, so that a name with many dead addresses costs no more than one with a few. */
const MAX_ADDRESSES = 4;
/** A name with more is refused: each must be checked, and an answer may hold thousands. */
const MAX_JUDGED = 64;

/**
 * Looks a destination up once and checks every address. Nothing is resolved again before the connection.
 *
 * @throws EgressError `forbidden` when any address is denied, because a mix of public and other addresses is an attack or a leak
 */
export async function checkedAddresses(
  deps: { resolve: Resolve; guard: AddressGuard },
  destination: Destination,
  use: Use,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { host, isLiteral, url } = destination;
  const addresses = isLiteral ? [host] : await deps.resolve(host, signal).catch(unresolved);
  if (addresses.length === 0) throw unreachable();
  if (addresses.length > MAX_JUDGED)
    throw new EgressError("unreachable", `names a host with more than ${MAX_JUDGED} addresses`);
  const verdicts = addresses.map(deps.guard.judge);
  for (const [index, verdict] of verdicts.entries()) {
    if (verdict.kind === "denied") throw notPublic(host, addresses[index] ?? "", verdict.reason);
  }
  if (use !== "callback" && url.protocol === "http:" && !verdicts.every(({ kind }) => kind === "allowed")) {
    throw new EgressError("forbidden", "must be an https URL");
  }
  return addresses.slice(0, MAX_ADDRESSES);
}

/** Tells the caller only the kind of the address, which may belong to a network they cannot see. */
function notPublic(host: string, address: string, kind: string): EgressError {
  const detail = new Error(`${host} has the address ${address}`);
  return new EgressError("forbidden", `points to an address that is not public (${kind})`, detail);
}

function unresolved(error: unknown): never {
  throw unreachable(error);
}

function unreachable(cause?: unknown): EgressError {
  return new EgressError("unreachable", "names a host that cannot be found", cause);
}
