import { gathered } from "../../manage/lists.ts";
import type { ListedKey, Manage } from "../../manage/port.ts";

/** Up to this many accounts are read one by one; more, in pages of all accounts. */
const FEW = 10;

/** The names of the accounts of keys, by their ids. Reads accounts only of keys that come without them. */
export async function ownersOf(
  manage: Manage,
  keys: readonly Pick<ListedKey, "accountId" | "accountName">[],
): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>();
  const unnamed = new Set<ListedKey["accountId"]>();
  for (const { accountId, accountName } of keys) {
    if (accountName === undefined) unnamed.add(accountId);
    else names.set(accountId, accountName);
  }
  const accounts =
    unnamed.size > FEW
      ? (await gathered(manage.listAccounts())).items
      : await Promise.all([...unnamed].map((id) => manage.readAccount(id)));
  for (const { id, name } of accounts) names.set(id, name);
  return names;
}
