import type { KeyGrant, ManagementToken, Principal } from "../domain/access/account.ts";
import type { Operator } from "../domain/access/actor.ts";
import { type CredentialKind, isForeignKey, parseCredential } from "../domain/access/credential.ts";
import { type AtHand, whenAtHand } from "../domain/at-hand.ts";
import { AppError } from "../domain/errors.ts";
import type { AccountStore } from "../domain/ports/account-store.ts";
import type { Addresses } from "../domain/ports/addresses.ts";
import type { Clock, Secrets } from "../domain/ports/runtime.ts";
import type { SessionStore } from "../domain/ports/session-store.ts";
import type { ACCESS_WORDS } from "../domain/words/access-words.ts";

/** Where a request comes from. Needed only for keys with a list of addresses. */
export interface Caller {
  /** The address in its canonical form; undefined if it is not known. */
  readonly address: string | undefined;
}

/** The credential of a request: a key, a token, or the secret of a console session, which stands for a key or a token. */
export type Presented = string | { readonly session: string };

export interface AuthenticateDeps {
  readonly accounts: AccountStore;
  /** Absent if there is no console. */
  readonly sessions?: Pick<SessionStore, "byHash"> | undefined;
  readonly addresses: Addresses;
  readonly clock: Clock;
  readonly secrets: Secrets;
}

/** The problems that a credential can have. */
type Fault = Extract<keyof typeof ACCESS_WORDS, `key_${string}` | `token_${string}` | "session_ended">;

function refuse(kind: Fault): never {
  throw new AppError("invalid_api_key", { kind });
}

/**
 * Finds out for whom a credential acts. Looks up only texts that are well-formed keys or may be keys that were imported from
 * another gateway.
 * @throws AppError `invalid_api_key` for anything but a valid API key; the message is the same for unknown and revoked keys
 */
export function createAuthenticate(deps: AuthenticateDeps) {
  const { accounts, addresses, clock } = deps;
  return (presented: Presented | undefined, caller: Caller): AtHand<Principal> => {
    if (presented === undefined || presented === "") return refuse("key_absent");
    const now = clock.now();
    return whenAtHand(identify(deps, presented, now), (known) => {
      if (known === undefined) return refuse("key_malformed");
      if (known.kind === "management_token") return refuse("token_not_key");
      return whenAtHand(accounts.grantByHash(known.hash, now), (grant) => {
        if (grant === undefined) return refuse(known.isForeign ? "key_malformed" : "key_invalid");
        return principalOf(grant, { caller, addresses, now });
      });
    });
  };
}
export type Authenticate = ReturnType<typeof createAuthenticate>;

/** For whom a valid key acts, with its terms. @throws AppError `invalid_api_key` for any other key */
function principalOf(
  grant: KeyGrant,
  {
    caller,
    addresses,
    now,
  }: { readonly caller: Caller; readonly addresses: Addresses; readonly now: number },
): Principal {
  if (grant.revokedAt !== undefined) return refuse("key_invalid");
  if (grant.expiresAt !== undefined && grant.expiresAt <= now) return refuse("key_expired");
  const { accountId, keyId, keyName, policy } = grant;
  if (policy.allowIps !== undefined) {
    const { address } = caller;
    // A caller whose address is unknown matches no list.
    const isListed = address !== undefined && addresses.isWithin(address, policy.allowIps);
    if (!isListed) return refuse("key_elsewhere");
  }
  if (grant.accountStatus !== "active") return refuse("key_suspended");
  const priceMultiplier = policy.priceMultiplier ?? grant.priceMultiplier;
  const retainSec = policy.retainSec ?? grant.retainOutputsSec;
  return { accountId, keyId, keyName, policy, priceMultiplier, ...(retainSec && { retainSec }) };
}

/** The same for the management API. @throws AppError `invalid_api_key` for anything but a valid management token */
export function createAuthenticateOperator(deps: Omit<AuthenticateDeps, "addresses">) {
  return (presented: Presented | undefined): AtHand<Operator> => {
    if (presented === undefined || presented === "") return refuse("token_absent");
    const now = deps.clock.now();
    return whenAtHand(identify(deps, presented, now), (known) => {
      if (known === undefined || known.isForeign) return refuse("token_malformed");
      if (known.kind === "api_key") return refuse("key_not_token");
      return whenAtHand(deps.accounts.tokenByHash(known.hash, now), (token) => operatorOf(token, now));
    });
  };
}
export type AuthenticateOperator = ReturnType<typeof createAuthenticateOperator>;

function operatorOf(token: ManagementToken | undefined, now: number): Operator {
  if (token === undefined || token.revokedAt !== undefined) return refuse("token_invalid");
  if (token.expiresAt !== undefined && token.expiresAt <= now) return refuse("token_expired");
  const { id, name, scopes, expiresAt } = token;
  return { tokenId: id, tokenName: name, scopes, expiresAt };
}

interface Identified {
  readonly kind: CredentialKind;
  readonly hash: string;
  /** The text has the form of other gateways' keys. */
  readonly isForeign: boolean;
}

/**
 * The kind and the hash of a credential; a session has those of its key or token.
 * @returns undefined if the text is no credential @throws AppError `invalid_api_key` for a session that is over
 */
function identify(
  { sessions, secrets }: Pick<AuthenticateDeps, "sessions" | "secrets">,
  presented: Presented,
  now: number,
): AtHand<Identified | undefined> {
  if (typeof presented === "string") {
    const parsed = parseCredential(presented);
    if (parsed !== undefined) return { kind: parsed.kind, hash: secrets.hash(presented), isForeign: false };
    if (!isForeignKey(presented)) return undefined;
    return { kind: "api_key", hash: secrets.hash(presented), isForeign: true };
  }
  return whenAtHand(sessions?.byHash(secrets.hash(presented.session), now), (session) => {
    if (session === undefined || session.isLink || session.expiresAt <= now) return refuse("session_ended");
    return { kind: session.kind, hash: session.grantHash, isForeign: false };
  });
}
