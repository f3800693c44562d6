import type { ManagementToken } from "../domain/access/account.ts";
import { ALL_SCOPES, type GivenTokenTerms, type Scope, TOKEN_TERMS } from "../domain/access/token-terms.ts";
import { AppError, invalid } from "../domain/errors.ts";
import type { ListQuery } from "../domain/lists.ts";
import { checkTerms } from "./check-terms.ts";
import { readPart } from "./lists.ts";
import { actNow, checkName, type ManageAccountDeps, newCredential, notFound } from "./management.ts";

/** A token to create. Without scopes or expiry it gets those of its maker. */
export type TokenRequest = GivenTokenTerms & { readonly name: string };

/** A new management token. `token` is the credential itself. Nothing can show it again. */
export interface NewToken {
  readonly token: string;
  readonly record: ManagementToken;
}

/** The part of `ManageAccounts` for management tokens. */
export function tokenVerbs(deps: ManageAccountDeps) {
  const { accounts, clock } = deps;
  const find = async (idOrName: string): Promise<ManagementToken> =>
    (await accounts.token(idOrName)) ?? notFound("token", idOrName);
  return {
    /** @throws AppError `permission_denied` if it could do more, or live longer, than the token that makes it */
    async createToken({ name, ...terms }: TokenRequest): Promise<NewToken> {
      checkName("token", "tok", name);
      const allowed = grantedBy(deps, checkTerms(TOKEN_TERMS, terms, { ...deps, now: clock.now() }));
      const { secret, stored } = newCredential(deps, "management_token");
      const id = deps.ids.create("tok");
      const record: ManagementToken = { id, name, ...stored, ...allowed, createdAt: clock.now() };
      if ((await accounts.createToken(record, actNow(deps))) === "created") return { token: secret, record };
      throw invalid({ kind: "token_taken", field: "name", name });
    },
    /** Revoked ones are included. */
    listTokens: (query?: ListQuery) => readPart("tok", accounts.tokens, query),
    showToken: find,
    /** Revoking again changes nothing. @returns the token as it is now */
    async revokeToken(idOrName: string): Promise<ManagementToken> {
      const { id } = await find(idOrName);
      await accounts.revokeToken(id, clock.now(), actNow(deps));
      return find(id);
    },
  };
}

/**
 * What a new token may do, and until when. Only a token limits the tokens that it makes; a user with access to the data folder
 * may do everything.
 */
function grantedBy(
  { actor }: Pick<ManageAccountDeps, "actor">,
  asked: { readonly scopes?: readonly string[] | undefined; readonly expiresAt?: number | null | undefined },
): Pick<ManagementToken, "scopes" | "expiresAt"> {
  const maker = actor.kind === "token" ? actor : { scopes: ALL_SCOPES, expiresAt: undefined };
  const wanted = asked.scopes ?? maker.scopes;
  const scopes = ALL_SCOPES.filter((scope) => wanted.includes(scope));
  const missing = scopes.find((scope: Scope) => !maker.scopes.includes(scope));
  if (missing !== undefined)
    throw new AppError("permission_denied", { kind: "scope_exceeded", scope: missing, field: "scopes" });
  const { expiresAt = maker.expiresAt ?? null } = asked;
  const isLonger = maker.expiresAt !== undefined && (expiresAt === null || expiresAt > maker.expiresAt);
  if (isLonger) {
    const until = new Date(maker.expiresAt).toISOString();
    throw new AppError("permission_denied", { kind: "maker_outlived", until, field: "expires_at" });
  }
  return { scopes, expiresAt: expiresAt ?? undefined };
}
