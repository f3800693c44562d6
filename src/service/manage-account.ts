import type { Account } from "../domain/access/account.ts";
import type { AccountMode } from "../domain/access/account-terms.ts";
import type { Operator } from "../domain/access/actor.ts";
import { invalid } from "../domain/errors.ts";
import type { ListQuery } from "../domain/lists.ts";
import { type Micros, ZERO } from "../domain/money/money.ts";
import { firstKeyVerbs } from "./first-key.ts";
import { quotaVerbs } from "./list-quotas.ts";
import { readPart } from "./lists.ts";
import { keyVerbs } from "./manage-keys.ts";
import { moneyVerbs } from "./manage-money.ts";
import { sessionVerbs } from "./manage-sessions.ts";
import { tokenVerbs } from "./manage-tokens.ts";
import { addAccount, checkName, findAccount, type ManageAccountDeps } from "./management.ts";
import { usageVerbs } from "./read-usage.ts";

/** An account to create. */
export interface AccountRequest {
  readonly name: string;
  readonly mode?: AccountMode | undefined;
  readonly credit?: Micros | undefined;
}

/**
 * What an operator does with accounts, API keys and management tokens. Ids and names both work as names. Refusals are
 * AppErrors: `invalid_request` for names that are unusable or in use and for unusable amounts and limits; `not_found` for
 * missing records.
 */
export const createManageAccounts = (deps: ManageAccountDeps) => ({
  ...accountVerbs(deps),
  ...moneyVerbs(deps),
  ...usageVerbs(deps),
  ...keyVerbs(deps),
  ...quotaVerbs(deps),
  ...firstKeyVerbs(deps),
  ...tokenVerbs(deps),
  ...sessionVerbs(deps),
});
export type ManageAccounts = ReturnType<typeof createManageAccounts>;
/** The same for the actor of a management token. */
export type ManageAs = (operator: Operator) => ManageAccounts;

function accountVerbs(deps: ManageAccountDeps) {
  const { accounts } = deps;
  return {
    /** `prepaid` unless given otherwise, with an empty balance. */
    async createAccount(request: AccountRequest): Promise<Account> {
      const { name, mode = "prepaid", credit = ZERO } = request;
      checkName("account", "acc", name);
      if (credit < 0) throw invalid({ kind: "first_credit", field: "credit", given: credit });
      const created = await addAccount(deps, { name, mode, credit });
      if (created !== undefined) return created;
      throw invalid({ kind: "account_taken", field: "name", name });
    },
    listAccounts: (query?: ListQuery) => readPart("acc", accounts.accounts, query),
    readAccount: (idOrName: string) => findAccount(deps, idOrName),
  };
}
