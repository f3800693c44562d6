import type { Operator, Principal } from "../domain/access/account.ts";
import { parseCredential } from "../domain/access/credential.ts";
import { AppError } from "../domain/errors.ts";
import type { AccountStore } from "../domain/ports/account-store.ts";
import type { Addresses } from "../domain/ports/addresses.ts";
import type { Clock, Secrets } from "../domain/ports/runtime.ts";

/** Where a request comes from. Asked only for keys that may not be used from everywhere. */
export interface Caller {
  /** In its canonical form; undefined when nobody can tell. */
  readonly address: string | undefined;
}

/**
 * Tells who a presented credential acts for. Looks nothing up for a text that is not a well-formed key.
 *
 * @throws AppError `invalid_api_key` for anything but an eligible API key; an unknown and a revoked key read the same
 */
export type Authenticate = (credential: string | undefined, caller: Caller) => Principal;

/**
 * The same for the management API, which takes management tokens alone.
 *
 * @throws AppError `invalid_api_key` for anything but a valid management token
 */
export type AuthenticateOperator = (credential: string | undefined) => Operator;

export interface AuthenticateDeps {
  readonly accounts: AccountStore;
  readonly addresses: Addresses;
  readonly clock: Clock;
  readonly secrets: Secrets;
}

const refuse = (message: string): never => {
  throw new AppError("invalid_api_key", message);
};

export function createAuthenticate(deps: AuthenticateDeps): Authenticate {
  return (credential, caller) => {
    if (credential === undefined || credential === "") {
      return refuse("No API key was given. Send it as `Authorization: Bearer <API_KEY>`.");
    }
    const parsed = parseCredential(credential);
    if (parsed === undefined) return refuse("The API key is malformed: check that it was copied whole.");
    if (parsed.kind === "management_token") {
      return refuse("This is a management token; model APIs take an API key.");
    }
    const now = deps.clock.now();
    const grant = deps.accounts.grantByHash(deps.secrets.hash(credential), now);
    if (grant === undefined || grant.revokedAt !== undefined) return refuse("The API key is not valid.");
    if (grant.expiresAt !== undefined && grant.expiresAt <= now) return refuse("The API key has expired.");
    const { allowIps } = grant.policy;
    if (allowIps !== undefined && !isAllowed(deps.addresses, caller, allowIps)) {
      return refuse("The API key may not be used from this address.");
    }
    if (grant.accountStatus !== "active") return refuse("The account of this API key is suspended.");
    return {
      accountId: grant.accountId,
      keyId: grant.keyId,
      keyName: grant.keyName,
      policy: grant.policy,
      priceMultiplier: grant.policy.priceMultiplier ?? grant.priceMultiplier,
    };
  };
}

export function createAuthenticateOperator(deps: Omit<AuthenticateDeps, "addresses">): AuthenticateOperator {
  return (credential) => {
    if (credential === undefined || credential === "") {
      return refuse("No management token was given. Send it as `Authorization: Bearer <MANAGEMENT_TOKEN>`.");
    }
    const parsed = parseCredential(credential);
    if (parsed === undefined) {
      return refuse("The management token is malformed: check that it was copied whole.");
    }
    if (parsed.kind === "api_key") return refuse("This is an API key; a management token is needed here.");
    const token = deps.accounts.tokenByHash(deps.secrets.hash(credential), deps.clock.now());
    if (token === undefined || token.revokedAt !== undefined) {
      return refuse("The management token is not valid.");
    }
    return { tokenId: token.id, tokenName: token.name };
  };
}

/** A caller whose address nobody can tell is in no list. */
function isAllowed(addresses: Addresses, { address }: Caller, ranges: readonly string[]): boolean {
  return address !== undefined && addresses.isWithin(address, ranges);
}
