import { OPEN_POLICY } from "../domain/access/key-policy.ts";
import { newKeyOf } from "./manage-keys.ts";
import { actNow, DEFAULT_ACCOUNT, DEFAULT_TERMS, type ManageAccountDeps, newAccount } from "./management.ts";

/** Where the first key waits for whoever takes it. */
export interface FirstKeyKeeper {
  /** If it stores the key, that survives a kill at any point. */
  keep(key: string): void;
  /** Forgets a key that was not stored. */
  drop(): void;
  /** What waits there from an earlier start. */
  kept(): string | undefined;
}

const NOWHERE: FirstKeyKeeper = { keep() {}, drop() {}, kept: () => undefined };

/** The part of `ManageAccounts` for a new installation. */
export const firstKeyVerbs = (deps: ManageAccountDeps) => ({
  /**
   * Without any accounts, creates an unlimited one and its key, both named "default". Otherwise returns undefined.
   *
   * @param keeper receives the secret before the key is stored, so a lost secret never belongs to a stored key
   */
  async ensureFirstKey(keeper: FirstKeyKeeper = NOWHERE) {
    const { accounts } = deps;
    if ((await accounts.accounts({ limit: 1 })).length > 0) return undefined;
    const account = newAccount(deps, DEFAULT_TERMS);
    const { key, record } = newKeyOf(deps, account.id, DEFAULT_ACCOUNT, { policy: OPEN_POLICY });
    keeper.keep(key);
    if ((await accounts.createFirst(account, record, actNow(deps))) === "created") return { key, record };
    // Another node was first.
    keeper.drop();
    return undefined;
  },
  /** Whether the key that waits from an earlier start is one of this database's and not revoked. True if none waits. */
  async isKeptKeyGood({ kept }: FirstKeyKeeper): Promise<boolean> {
    const secret = kept();
    if (secret === undefined) return true;
    const grant = await deps.accounts.grantByHash(deps.secrets.hash(secret), deps.clock.now());
    return grant !== undefined && grant.revokedAt === undefined;
  },
});
