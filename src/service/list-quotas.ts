import { type Account, type ApiKey, keyStatus } from "../domain/access/account.ts";
import type { ListPage } from "../domain/ports/account-store.ts";
import { readNames, readSlices } from "./lists.ts";
import { findStoredKey } from "./manage-keys.ts";
import { findAccount, type ManageAccountDeps } from "./management.ts";
import { type QuotaStatus, readQuota } from "./read-account.ts";

/** An active key with a quota, and what is left of it. */
export interface ListedQuota {
  readonly key: ApiKey;
  readonly account: Pick<Account, "id" | "name">;
  readonly quota: QuotaStatus;
}

/** Whose quotas are listed. */
export interface QuotaQuery {
  /** Id or name of one account; all unless given. */
  readonly account?: string | undefined;
  /** Id or name of one key; all unless given. */
  readonly key?: string | undefined;
}

/** How many keys are read before other work runs. One that never used its quota takes as long as its account has days. */
const AT_ONCE = 4;

/** The part of `ManageAccounts` for quotas. */
export const quotaVerbs = (deps: ManageAccountDeps) => ({
  /**
   * Every active key with a quota, the one with the smallest share left first.
   *
   * @throws AppError `not_found`
   */
  async listQuotas(query: QuotaQuery = {}): Promise<ListedQuota[]> {
    const { accounts, clock } = deps;
    const at = clock.now();
    const limited = await limitedKeys(deps, query, at);
    const names = await readNames(
      accounts.accountNames,
      limited.map((key) => key.accountId),
    );
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

/** The active keys that have a quota. @throws AppError `not_found` */
async function limitedKeys(
  deps: ManageAccountDeps,
  { account, key: one }: QuotaQuery,
  at: number,
): Promise<ApiKey[]> {
  const { accounts } = deps;
  const owner = account === undefined ? undefined : (await findAccount(deps, account)).id;
  const isLimited = (key: ApiKey) => key.policy.quota !== undefined && keyStatus(key, at) === "active";
  if (one !== undefined) {
    const key = await findStoredKey(deps, one);
    return isLimited(key) && (owner === undefined || owner === key.accountId) ? [key] : [];
  }
  const limited: ApiKey[] = [];
  for await (const { items } of readSlices((page: ListPage) => accounts.keys({ ...page, account: owner })))
    limited.push(...items.filter(isLimited));
  return limited;
}

function shareLeft({ limit, remaining }: QuotaStatus): number {
  return limit <= 0 ? 0 : remaining / limit;
}
