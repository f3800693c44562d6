import { type Account, type ApiKey, keyStatus } from "../domain/access/account.ts";
import type { ListQuery, ListSlice } from "../domain/lists.ts";
import { quotaPeriod } from "../domain/money/quota.ts";
import { readNames, readPart } from "./lists.ts";
import { findStoredKey } from "./manage-keys.ts";
import { findAccount, type ManageAccountDeps } from "./management.ts";
import { type QuotaStatus, quotaStatus } from "./read-account.ts";

/** An active key with a quota, and what is left of it. */
export interface ListedQuota {
  readonly key: ApiKey;
  readonly account: Pick<Account, "id" | "name">;
  readonly quota: QuotaStatus;
}

/** Whose quotas are listed, and which part of them. */
export interface QuotaQuery extends ListQuery {
  /** Id or name of one account; all unless given. */
  readonly account?: string | undefined;
  /** Id or name of one key; all unless given. */
  readonly key?: string | undefined;
}

/** How many keys are read before other work runs. One that never used its quota takes as long as its account has days. */
const AT_ONCE = 10;

/** The part of `ManageAccounts` for quotas. */
export const quotaVerbs = (deps: ManageAccountDeps) => ({
  /**
   * Active keys with a quota: all, the one with the smallest share left first; or, with `limit` or `after`, a part of them in the order
   * in which keys were made.
   *
   * @throws AppError `not_found`; `invalid_request` if `after` is no id of a key
   */
  async listQuotas(query: QuotaQuery = {}): Promise<ListSlice<ListedQuota>> {
    const at = deps.clock.now();
    const { items: limited, next } = await limitedKeys(deps, query, at);
    const listed = await readQuotas(deps, limited, at);
    if (query.limit === undefined && query.after === undefined)
      listed.sort((one, other) => shareLeft(one.quota) - shareLeft(other.quota));
    return { items: listed, next };
  },
});

async function readQuotas(
  deps: ManageAccountDeps,
  keys: readonly ApiKey[],
  at: number,
): Promise<ListedQuota[]> {
  const owners = keys.map((key) => key.accountId);
  const names = await readNames(deps.accounts.accountNames, owners);
  const limits = keys.flatMap((key) =>
    key.policy.quota === undefined ? [] : [{ key, quota: key.policy.quota }],
  );
  const listed: ListedQuota[] = [];
  for (let i = 0; i < limits.length; i += AT_ONCE) {
    const few = limits.slice(i, i + AT_ONCE);
    const asked = few.map(({ key, quota }) => ({ id: key.id, period: quotaPeriod(quota.reset, at) }));
    for (const [place, use] of (await deps.accounts.keyQuotas(asked)).entries()) {
      const { key, quota } = few[place] as (typeof few)[number];
      const account = { id: key.accountId, name: names.get(key.accountId) ?? "" };
      listed.push({ key, account, quota: quotaStatus(quota, use, at) });
    }
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  return listed;
}

/** The active keys that have a quota. @throws AppError `not_found`; `invalid_request` if `after` is no id of a key */
async function limitedKeys(
  deps: ManageAccountDeps,
  { account, key: one, limit = Number.POSITIVE_INFINITY, after }: QuotaQuery,
  at: number,
): Promise<ListSlice<ApiKey>> {
  const { accounts } = deps;
  const owner = account === undefined ? undefined : (await findAccount(deps, account)).id;
  const isLimited = (key: ApiKey) => key.policy.quota !== undefined && keyStatus(key, at) === "active";
  if (one !== undefined) {
    const key = await findStoredKey(deps, one);
    const isMeant = isLimited(key) && (owner === undefined || owner === key.accountId);
    return { items: isMeant ? [key] : [], next: undefined };
  }
  const limited: ApiKey[] = [];
  for await (const { items } of readPart(
    "key",
    (page) => accounts.keys({ ...page, account: owner, isLimited: true }),
    {
      after,
    },
  )) {
    limited.push(...items.filter(isLimited));
    // One key more than wanted shows whether the list goes on.
    if (limited.length > limit) break;
  }
  const items = limited.slice(0, limit);
  return { items, next: items.length < limited.length ? items.at(-1)?.id : undefined };
}

function shareLeft({ limit, remaining }: QuotaStatus): number {
  return limit <= 0 ? 0 : remaining / limit;
}
