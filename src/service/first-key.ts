import { OPEN_POLICY } from "../domain/access/key-policy.ts";
import { newKeyOf } from "./manage-keys.ts";
import { actNow, DEFAULT_ACCOUNT, DEFAULT_TERMS, type ManageAccountDeps, newAccount } from "./management.ts";

/** The part of `ManageAccounts` for a new installation. */
export const firstKeyVerbs = (deps: ManageAccountDeps) => ({
  /**
   * Without any accounts, creates an unlimited one and its key, both named "default". Otherwise returns undefined.
   *
   * @param keep receives the secret before the key is stored, so a lost secret never belongs to a stored key
   */
  async ensureFirstKey(keep: (secret: string) => void = () => {}) {
    const { accounts } = deps;
    if ((await accounts.accounts({ limit: 1 })).length > 0) return undefined;
    const account = newAccount(deps, DEFAULT_TERMS);
    const { key, record } = newKeyOf(deps, account.id, DEFAULT_ACCOUNT, { policy: OPEN_POLICY });
    keep(key);
    const result = await accounts.createFirst(account, record, actNow(deps));
    return result === "created" ? { key, record } : undefined;
  },
});
