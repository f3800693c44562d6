import type { Account, ApiKey, ManagementToken } from "../domain/access/account.ts";
import type { AccountMode, GivenAccountTerms } from "../domain/access/account-terms.ts";
import { invalid } from "../domain/errors.ts";
import { type Micros, ZERO } from "../domain/money/money.ts";
import type { UsageReport } from "../domain/money/usage.ts";
import type { StoredLedgerEntry } from "../domain/ports/account-store.ts";
import type { KeyTerms } from "./key-terms.ts";
import { type ChangedKey, type KeyRequest, keyVerbs, type NewKey } from "./manage-keys.ts";
import { type LedgerPage, type Movement, moneyVerbs, type Refunded } from "./manage-money.ts";
import {
  addAccount,
  checkName,
  findAccount,
  type ManageAccountDeps,
  newCredential,
  notFound,
} from "./management.ts";
import { type UsageRequest, usageVerbs } from "./read-usage.ts";

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
export interface ManageAccounts {
  /** `prepaid` unless said otherwise, with nothing on it. */
  createAccount(request: AccountRequest): Promise<Account>;
  listAccounts(): Promise<Account[]>;
  readAccount(idOrName: string): Promise<Account>;
  /** With every movement of its money, oldest first. */
  showAccount(idOrName: string): Promise<{ account: Account; ledger: StoredLedgerEntry[] }>;
  /**
   * Changes only what is given. A running server follows within a second; accepted tasks keep their price. Refuses a change that
   * would overdraw a prepaid account. @returns the account as it is now
   */
  updateAccount(idOrName: string, terms: GivenAccountTerms): Promise<Account>;
  /** Refuses its keys from now on. Accepted tasks go on. Suspending again changes nothing. */
  suspendAccount(idOrName: string): Promise<Account>;
  activateAccount(idOrName: string): Promise<Account>;
  /** Adds to the balance; a negative amount takes from it. @returns the account afterwards */
  creditAccount(idOrName: string, amount: Micros, movement: Movement): Promise<Account>;
  /**
   * Returns what a task was charged, or a part of it, once for each task. Usage and quotas still count the charge.
   * `not_found` for an unknown task; `invalid_request` when it was charged less or nothing, or was refunded before.
   */
  refundTask(task: string, refund: Movement & { readonly amount?: Micros | undefined }): Promise<Refunded>;
  /** At most `limit` movements of an account's money, newest first, from before the row with number `before`. */
  readLedger(
    idOrName: string,
    page: { readonly limit: number; readonly before?: number | undefined },
  ): Promise<LedgerPage>;
  /** Sums up the tasks that ended within some days, by key, model or day. Leaves refunds out. */
  readUsage(request: UsageRequest): Promise<UsageReport>;

  /** Belongs to the account "default" unless another is named. Creates that one, unlimited, if it is missing. */
  createKey(request: KeyRequest): Promise<NewKey>;
  listKeys(account?: string): Promise<ApiKey[]>;
  showKey(idOrName: string): Promise<ApiKey>;
  /** Changes only what is given. @returns the key as it is now */
  updateKey(idOrName: string, terms: KeyTerms): Promise<ChangedKey>;
  /**
   * Gives a key another secret; id, name, limits and callback secret stay. Accepts the old secret for `graceMs` more, by default not
   * at all. Ends the grace of an earlier rotation.
   */
  rotateKey(idOrName: string, request?: { graceMs?: number | undefined }): Promise<NewKey>;
  /** Revoking again changes nothing. @returns the key as it is now */
  revokeKey(idOrName: string): Promise<ApiKey>;
  /** Without any accounts, creates an unlimited one and its key, both named "default". Otherwise returns undefined. */
  ensureFirstKey(): Promise<NewKey | undefined>;

  createToken(request: { name: string }): Promise<NewToken>;
  listTokens(): Promise<ManagementToken[]>;
  /** Revoking again changes nothing. @returns the token as it is now */
  revokeToken(idOrName: string): Promise<ManagementToken>;
}

export function createManageAccounts(deps: ManageAccountDeps): ManageAccounts {
  return {
    ...accountVerbs(deps),
    ...moneyVerbs(deps),
    ...usageVerbs(deps),
    ...keyVerbs(deps),
    ...tokenVerbs(deps),
  };
}

function accountVerbs(deps: ManageAccountDeps) {
  const { accounts } = deps;
  return {
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
    async revokeToken(idOrName: string): Promise<ManagementToken> {
      const found = (await accounts.token(idOrName)) ?? notFound("token", idOrName);
      await accounts.revokeToken(found.id, clock.now());
      return (await accounts.token(found.id)) ?? notFound("token", idOrName);
    },
  };
}
