import type { Principal } from "../domain/access/account.ts";
import type { Operator } from "../domain/access/actor.ts";
import { parseCredential } from "../domain/access/credential.ts";
import { AppError } from "../domain/errors.ts";
import type { AccountStore } from "../domain/ports/account-store.ts";
import type { Addresses } from "../domain/ports/addresses.ts";
import type { Clock, Secrets } from "../domain/ports/runtime.ts";
import type { ACCESS_WORDS } from "../domain/words/access-words.ts";

/** Where a request comes from. Only keys with a list of addresses ask. */
export interface Caller {
  /** In its canonical form; undefined when nobody can tell. */
  readonly address: string | undefined;
}

export interface AuthenticateDeps {
  readonly accounts: AccountStore;
  readonly addresses: Addresses;
  readonly clock: Clock;
  readonly secrets: Secrets;
}

/** What can be wrong with a credential. */
type Fault = Extract<keyof typeof ACCESS_WORDS, `key_${string}` | `token_${string}`>;

function refuse(kind: Fault): never {
  throw new AppError("invalid_api_key", { kind });
}

/**
 * Tells who a presented credential acts for. Looks nothing up for a text that is not a well-formed key.
 * @throws AppError `invalid_api_key` for anything but an eligible API key; an unknown and a revoked key read the same
 */
export function createAuthenticate({ accounts, addresses, clock, secrets }: AuthenticateDeps) {
  return (credential: string | undefined, caller: Caller): Principal => {
    if (credential === undefined || credential === "") return refuse("key_absent");
    const parsed = parseCredential(credential);
    if (parsed === undefined) return refuse("key_malformed");
    if (parsed.kind === "management_token") return refuse("token_not_key");
    const now = clock.now();
    const grant = accounts.grantByHash(secrets.hash(credential), now);
    if (grant === undefined || grant.revokedAt !== undefined) return refuse("key_invalid");
    if (grant.expiresAt !== undefined && grant.expiresAt <= now) return refuse("key_expired");
    const { accountId, keyId, keyName, policy } = grant;
    if (policy.allowIps !== undefined) {
      const { address } = caller;
      // A caller whose address is unknown is in no list.
      const isListed = address !== undefined && addresses.isWithin(address, policy.allowIps);
      if (!isListed) return refuse("key_elsewhere");
    }
    if (grant.accountStatus !== "active") return refuse("key_suspended");
    const priceMultiplier = policy.priceMultiplier ?? grant.priceMultiplier;
    const retainSec = policy.retainSec ?? grant.retainOutputsSec;
    return { accountId, keyId, keyName, policy, priceMultiplier, ...(retainSec && { retainSec }) };
  };
}
export type Authenticate = ReturnType<typeof createAuthenticate>;

/** The same for the management API. @throws AppError `invalid_api_key` for anything but a valid management token */
export function createAuthenticateOperator(deps: Omit<AuthenticateDeps, "addresses">) {
  return (credential: string | undefined): Operator => {
    if (credential === undefined || credential === "") return refuse("token_absent");
    const parsed = parseCredential(credential);
    if (parsed === undefined) return refuse("token_malformed");
    if (parsed.kind === "api_key") return refuse("key_not_token");
    const now = deps.clock.now();
    const token = deps.accounts.tokenByHash(deps.secrets.hash(credential), now);
    if (token === undefined || token.revokedAt !== undefined) return refuse("token_invalid");
    if (token.expiresAt !== undefined && token.expiresAt <= now) return refuse("token_expired");
    const { id, name, scopes, expiresAt } = token;
    return { tokenId: id, tokenName: name, scopes, expiresAt };
  };
}
export type AuthenticateOperator = ReturnType<typeof createAuthenticateOperator>;
