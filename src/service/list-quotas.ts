import { type Account, type ApiKey, keyStatus } from "../domain/access/account.ts";
import { findAccount, type ManageAccountDeps } from "./management.ts";
import { type QuotaStatus, readQuota } from "./read-account.ts";

/** An active key with a quota, and what is left of it. */
export interface ListedQuota {
  readonly key: ApiKey;
  readonly account: Pick<Account, "id" | "name">;
  readonly quota: QuotaStatus;
}

/** How many keys are read before other work runs. One that never used its quota takes as long as its account has days. */
const AT_ONCE = 4;

/** The part of `ManageAccounts` for quotas. */
export const quotaVerbs = (deps: ManageAccountDeps) => ({
  /**
   * Every active key with a quota, the one with the smallest share left first.
   *
   * @param owner id or name of one account; all unless given @throws AppError `not_found`
   */
  async listQuotas(owner?: string): Promise<ListedQuota[]> {
    const { accounts, clock } = deps;
    const at = clock.now();
    const of = owner === undefined ? await accounts.accounts() : [await findAccount(deps, owner)];
    const names = new Map(of.map(({ id, name }) => [id, name]));
    const keys = await accounts.keys(owner === undefined ? undefined : of[0]?.id);
    const limited = keys.filter((key) => key.policy.quota !== undefined && keyStatus(key, at) === "active");
    const readOne = async (key: ApiKey): Promise<ListedQuota[]> => {
      const quota = await readQuota(deps, { keyId: key.id, policy: key.policy }, at);
      const account = { id: key.accountId, name: names.get(key.accountId) ?? "" };
      return quota === undefined ? [] : [{ key, account, quota }];
    };
    const listed: ListedQuota[] = [];
    for (let i = 0; i < limited.length; i += AT_ONCE) {
      const few = await Promise.all(limited.slice(i, i + AT_ONCE).map(readOne));
      listed.push(...few.flat());
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
    return listed.sort((one, other) => shareLeft(one.quota) - shareLeft(other.quota));
  },
});

function shareLeft({ limit, remaining }: QuotaStatus): number {
  return limit <= 0 ? 0 : remaining / limit;
}
