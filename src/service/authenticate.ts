import type { Principal } from "../domain/access/account.ts";
import type { Operator } from "../domain/access/actor.ts";
import { type CredentialKind, parseCredential } from "../domain/access/credential.ts";
import { AppError } from "../domain/errors.ts";
import type { AccountStore } from "../domain/ports/account-store.ts";
import type { Addresses } from "../domain/ports/addresses.ts";
import type { Clock, Secrets } from "../domain/ports/runtime.ts";
import type { SessionStore } from "../domain/ports/session-store.ts";
import type { ACCESS_WORDS } from "../domain/words/access-words.ts";

/** Where a request comes from. Only keys with a list of addresses ask. */
export interface Caller {
  /** In its canonical form; undefined when nobody can tell. */
  readonly address: string | undefined;
}

/** What a request shows of its caller: a key or a token, or the secret of a session of the console, which stands for one. */
export type Presented = string | { readonly session: string };

export interface AuthenticateDeps {
  readonly accounts: AccountStore;
  /** Absent where there is no console. */
  readonly sessions?: Pick<SessionStore, "byHash"> | undefined;
  readonly addresses: Addresses;
  readonly clock: Clock;
  readonly secrets: Secrets;
}

/** What can be wrong with a credential. */
type Fault = Extract<keyof typeof ACCESS_WORDS, `key_${string}` | `token_${string}` | "session_ended">;

function refuse(kind: Fault): never {
  throw new AppError("invalid_api_key", { kind });
}

/**
 * Tells who a presented credential acts for. Looks nothing up for a text that is not a well-formed key.
 * @throws AppError `invalid_api_key` for anything but an eligible API key; an unknown and a revoked key read the same
 */
export function createAuthenticate(deps: AuthenticateDeps) {
  const { accounts, addresses, clock } = deps;
  return (presented: Presented | undefined, caller: Caller): Principal => {
    if (presented === undefined || presented === "") return refuse("key_absent");
    const now = clock.now();
    const known = identify(deps, presented, now);
    if (known === undefined) return refuse("key_malformed");
    if (known.kind === "management_token") return refuse("token_not_key");
    const grant = accounts.grantByHash(known.hash, now);
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
  return (presented: Presented | undefined): Operator => {
    if (presented === undefined || presented === "") return refuse("token_absent");
    const now = deps.clock.now();
    const known = identify(deps, presented, now);
    if (known === undefined) return refuse("token_malformed");
    if (known.kind === "api_key") return refuse("key_not_token");
    const token = deps.accounts.tokenByHash(known.hash, now);
    if (token === undefined || token.revokedAt !== undefined) return refuse("token_invalid");
    if (token.expiresAt !== undefined && token.expiresAt <= now) return refuse("token_expired");
    const { id, name, scopes, expiresAt } = token;
    return { tokenId: id, tokenName: name, scopes, expiresAt };
  };
}
export type AuthenticateOperator = ReturnType<typeof createAuthenticateOperator>;

/**
 * The kind and the hash of what is presented; a session has those of its key or token.
 * @returns undefined for a text that is no credential @throws AppError `invalid_api_key` for a session that is over
 */
function identify(
  { sessions, secrets }: Pick<AuthenticateDeps, "sessions" | "secrets">,
  presented: Presented,
  now: number,
): { readonly kind: CredentialKind; readonly hash: string } | undefined {
  if (typeof presented === "string") {
    const parsed = parseCredential(presented);
    return parsed && { kind: parsed.kind, hash: secrets.hash(presented) };
  }
  const session = sessions?.byHash(secrets.hash(presented.session), now);
  if (session === undefined || session.isLink || session.expiresAt <= now) return refuse("session_ended");
  return { kind: session.kind, hash: session.grantHash };
}
