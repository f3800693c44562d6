import type { Principal } from "../domain/account.ts";
import { parseCredential } from "../domain/credential.ts";
import { AppError } from "../domain/errors.ts";
import type { AccountStore } from "../domain/ports/account-store.ts";
import type { Clock, Secrets } from "../domain/ports/runtime.ts";

/**
 * Tells who a presented credential acts for. Looks nothing up for a text that is not a well-formed key.
 *
 * @throws AppError `invalid_api_key` for anything but an eligible API key; an unknown and a revoked key read the same
 */
export type Authenticate = (credential: string | undefined) => Principal;

const refuse = (message: string): never => {
  throw new AppError("invalid_api_key", message);
};

export function createAuthenticate(deps: {
  accounts: AccountStore;
  clock: Clock;
  secrets: Secrets;
}): Authenticate {
  return (credential) => {
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
    if (grant.accountStatus !== "active") return refuse("The account of this API key is suspended.");
    return { accountId: grant.accountId, keyId: grant.keyId, keyName: grant.keyName };
  };
}
