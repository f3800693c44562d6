import type { Account, ManagementToken } from "../domain/access/account.ts";
import type { AccountMode } from "../domain/access/account-terms.ts";
import { invalid } from "../domain/errors.ts";
import { type Micros, ZERO } from "../domain/money/money.ts";
import { firstKeyVerbs } from "./first-key.ts";
import { keyVerbs } from "./manage-keys.ts";
import { moneyVerbs } from "./manage-money.ts";
import {
  addAccount,
  checkName,
  findAccount,
  type ManageAccountDeps,
  newCredential,
  notFound,
} from "./management.ts";
import { usageVerbs } from "./read-usage.ts";

/** An account to create. */
export interface AccountRequest {
  readonly name: string;
  readonly mode?: AccountMode | undefined;
  readonly credit?: Micros | undefined;
  /** Who creates it; `operator` unless given. */
  readonly actor?: string | undefined;
}

/** A new management token. `token` is the credential itself. Nothing can show it again. */
export interface NewToken {
  readonly token: string;
  readonly record: ManagementToken;
}

/**
 * What an operator does with accounts, API keys and management tokens. Ids and names both work as names.
 * Refusals are AppErrors: `invalid_request` for unusable or taken names, amounts and limits; `not_found` for missing records.
 */
export const createManageAccounts = (deps: ManageAccountDeps) => ({
  ...accountVerbs(deps),
  ...moneyVerbs(deps),
  ...usageVerbs(deps),
  ...keyVerbs(deps),
  ...firstKeyVerbs(deps),
  ...tokenVerbs(deps),
});
export type ManageAccounts = ReturnType<typeof createManageAccounts>;

function accountVerbs(deps: ManageAccountDeps) {
  const { accounts } = deps;
  return {
    /** `prepaid` unless said otherwise, with nothing on it. */
    async createAccount(request: AccountRequest): Promise<Account> {
      const { name, mode = "prepaid", credit = ZERO, actor } = request;
      checkName("account", "acc", name);
      if (credit < 0) throw invalid({ kind: "first_credit", field: "credit", given: credit });
      const created = await addAccount(deps, { name, mode, credit, actor });
      if (created !== undefined) return created;
      throw invalid({ kind: "account_taken", field: "name", name });
    },
    listAccounts: () => accounts.accounts(),
    readAccount: (idOrName: string) => findAccount(deps, idOrName),
    /** With every movement of its money, oldest first. */
    async showAccount(idOrName: string) {
      const account = await findAccount(deps, idOrName);
      return { account, ledger: await accounts.ledger(account.id) };
    },
  };
}

function tokenVerbs(deps: ManageAccountDeps) {
  const { accounts, clock } = deps;
  return {
    async createToken({ name }: { name: string }): Promise<NewToken> {
      checkName("token", "tok", name);
      const { secret, stored } = newCredential(deps, "management_token");
      const record: ManagementToken = { id: deps.ids.create("tok"), name, ...stored, createdAt: clock.now() };
      if ((await accounts.createToken(record)) === "created") return { token: secret, record };
      throw invalid({ kind: "token_taken", field: "name", name });
    },
    listTokens: () => accounts.tokens(),
    /** Revoking again changes nothing. @returns the token as it is now */
    async revokeToken(idOrName: string): Promise<ManagementToken> {
      const found = (await accounts.token(idOrName)) ?? notFound("token", idOrName);
      await accounts.revokeToken(found.id, clock.now());
      return (await accounts.token(found.id)) ?? notFound("token", idOrName);
    },
  };
}
