import { gathered } from "../../manage/lists.ts";
import type { Manage, ShownKey } from "../../manage/port.ts";

/** Up to this many accounts are read one by one; more, in pages of all accounts. */
const FEW = 10;

/** The names of the accounts of keys, by their ids. */
export async function ownersOf(
  manage: Manage,
  keys: readonly Pick<ShownKey, "accountId">[],
): Promise<ReadonlyMap<string, string>> {
  const ids = [...new Set(keys.map(({ accountId }) => accountId))];
  const accounts =
    ids.length > FEW
      ? (await gathered(manage.listAccounts())).items
      : await Promise.all(ids.map((id) => manage.readAccount(id)));
  return new Map(accounts.map(({ id, name }) => [id, name]));
}
