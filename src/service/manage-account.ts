import type { Account, AccountMode, ApiKey, ManagementToken } from "../domain/account.ts";
import { type CredentialKind, displayOf, formatCredential } from "../domain/credential.ts";
import { AppError } from "../domain/errors.ts";
import { type IdPrefix, isId } from "../domain/ids.ts";
import { formatAmount, type Micros, ZERO } from "../domain/money.ts";
import type { AccountStore, StoredLedgerEntry } from "../domain/ports/account-store.ts";
import type { Clock, Ids, Secrets } from "../domain/ports/runtime.ts";

/** The account that keys belong to unless another is named. */
export const DEFAULT_ACCOUNT = "default";
const MAX_NAME_LENGTH = 100;
const CONTROL = /\p{Cc}|\p{Cs}/u;

export interface ManageAccountDeps {
  readonly accounts: AccountStore;
  readonly clock: Pick<Clock, "now">;
  readonly ids: Pick<Ids, "create">;
  readonly secrets: Secrets;
}

/** A new API key. `key` is the credential itself, which nothing can show again. */
export interface NewKey {
  readonly key: string;
  readonly record: ApiKey;
  readonly account: Account;
}

/** A new management token. `token` is the credential itself, which nothing can show again. */
export interface NewToken {
  readonly token: string;
  readonly record: ManagementToken;
}

/**
 * What an operator does with accounts, API keys and management tokens. Everything is named by its id or its name.
 * Refusals are AppErrors: `invalid_request` for unusable or taken names and amounts, `not_found` for what does not exist.
 */
export interface ManageAccounts {
  /** `prepaid` unless said otherwise, with nothing on it. */
  createAccount(request: { name: string; mode?: AccountMode; credit?: Micros }): Promise<Account>;
  listAccounts(): Promise<Account[]>;
  showAccount(idOrName: string): Promise<{ account: Account; ledger: StoredLedgerEntry[] }>;
  /** Adds to the balance, or, below zero, takes from it. @returns the account afterwards */
  creditAccount(idOrName: string, amount: Micros, reason: string): Promise<Account>;

  /** For the account "default" unless another is named; that one is made, unlimited, if there is none. */
  createKey(request: { name: string; account?: string | undefined }): Promise<NewKey>;
  listKeys(account?: string): Promise<ApiKey[]>;
  showKey(idOrName: string): Promise<ApiKey>;
  /** Revoking again changes nothing. @returns the key as it is now */
  revokeKey(idOrName: string): Promise<ApiKey>;
  /** On an installation without accounts: an unlimited one and its key, both named "default". Elsewhere undefined. */
  ensureFirstKey(): Promise<NewKey | undefined>;

  createToken(request: { name: string }): Promise<NewToken>;
  listTokens(): Promise<ManagementToken[]>;
  /** Revoking again changes nothing. @returns the token as it is now */
  revokeToken(idOrName: string): Promise<ManagementToken>;
}

export function createManageAccounts(deps: ManageAccountDeps): ManageAccounts {
  return { ...accountVerbs(deps), ...keyVerbs(deps), ...tokenVerbs(deps) };
}

function accountVerbs(deps: ManageAccountDeps) {
  const { accounts, clock } = deps;
  return {
    async createAccount(request: { name: string; mode?: AccountMode; credit?: Micros }): Promise<Account> {
      const { name, mode = "prepaid", credit = ZERO } = request;
      checkName("account", "acc", name);
      if (credit < 0) {
        throw invalid(
          "credit",
          `An account starts with nothing or a credit, not with ${formatAmount(credit)}.`,
        );
      }
      const created = await addAccount(deps, { name, mode, credit });
      if (created !== undefined) return created;
      throw invalid("name", `There is an account named ${quote(name)} already.`);
    },
    listAccounts: () => accounts.accounts(),
    async showAccount(idOrName: string) {
      const account = await findAccount(deps, idOrName);
      return { account, ledger: await accounts.ledger(account.id) };
    },
    async creditAccount(idOrName: string, amount: Micros, reason: string): Promise<Account> {
      if (amount === 0) throw invalid("amount", "An amount of zero changes nothing.");
      const { id } = await findAccount(deps, idOrName);
      const credited = await accounts.credit(id, amount, reason, clock.now());
      return credited ?? notFound("account", idOrName);
    },
  };
}

function keyVerbs(deps: ManageAccountDeps) {
  const { accounts, clock } = deps;

  async function createKeyIn(account: Account, name: string): Promise<NewKey> {
    const { secret, stored } = newCredential(deps, "api_key");
    const id = deps.ids.create("key");
    const record: ApiKey = { id, accountId: account.id, name, ...stored, createdAt: clock.now() };
    const result = await accounts.createKey(record);
    if (result === "created") return { key: secret, record, account };
    if (result === "no_account") return notFound("account", account.name);
    throw invalid(
      "name",
      `The account ${quote(account.name)} has a key named ${quote(name)} already; revoke it or choose another name.`,
    );
  }

  async function findKey(idOrName: string): Promise<ApiKey> {
    const found = await accounts.key(idOrName);
    if (found !== undefined) return found;
    const named = (await accounts.keys()).filter((key) => key.name === idOrName);
    const valid = named.filter((key) => key.revokedAt === undefined);
    if (valid.length > 1) {
      const ids = valid.map((key) => key.id).join(", ");
      throw invalid(
        "key",
        `Several accounts have a key named ${quote(idOrName)}; use one of the ids: ${ids}.`,
      );
    }
    const [revoked] = named;
    if (revoked !== undefined) {
      throw new AppError(
        "not_found",
        `Every key named ${quote(idOrName)} is revoked; to see one, use its id (${revoked.id}).`,
      );
    }
    return notFound("key", idOrName);
  }

  return {
    async createKey({
      name,
      account: owner,
    }: {
      name: string;
      account?: string | undefined;
    }): Promise<NewKey> {
      checkName("key", "key", name);
      const account = owner === undefined ? await defaultAccount(deps) : await findAccount(deps, owner);
      return createKeyIn(account, name);
    },
    async listKeys(owner?: string): Promise<ApiKey[]> {
      return accounts.keys(owner === undefined ? undefined : (await findAccount(deps, owner)).id);
    },
    showKey: findKey,
    async revokeKey(idOrName: string): Promise<ApiKey> {
      const { id } = await findKey(idOrName);
      await accounts.revokeKey(id, clock.now());
      return findKey(id);
    },
    async ensureFirstKey(): Promise<NewKey | undefined> {
      if ((await accounts.accounts()).length > 0) return undefined;
      return createKeyIn(await defaultAccount(deps), DEFAULT_ACCOUNT);
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
      throw invalid(
        "name",
        `There is a token named ${quote(name)} already; revoke it or choose another name.`,
      );
    },
    listTokens: () => accounts.tokens(),
    async revokeToken(idOrName: string): Promise<ManagementToken> {
      const found = (await accounts.token(idOrName)) ?? notFound("token", idOrName);
      await accounts.revokeToken(found.id, clock.now());
      return (await accounts.token(found.id)) ?? notFound("token", idOrName);
    },
  };
}

/** @returns undefined when the name is taken */
async function addAccount(
  { accounts, clock, ids }: ManageAccountDeps,
  request: { name: string; mode: AccountMode; credit: Micros },
): Promise<Account | undefined> {
  const id = ids.create("acc");
  const result = await accounts.createAccount({ id, ...request, createdAt: clock.now() });
  return result === "created" ? accounts.account(id) : undefined;
}

async function defaultAccount(deps: ManageAccountDeps): Promise<Account> {
  const existing = await deps.accounts.account(DEFAULT_ACCOUNT);
  if (existing !== undefined) return existing;
  const created = await addAccount(deps, { name: DEFAULT_ACCOUNT, mode: "unlimited", credit: ZERO });
  // The name was taken in between: then it is there now.
  return created ?? findAccount(deps, DEFAULT_ACCOUNT);
}

async function findAccount({ accounts }: ManageAccountDeps, idOrName: string): Promise<Account> {
  return (await accounts.account(idOrName)) ?? notFound("account", idOrName);
}

function newCredential({ secrets }: ManageAccountDeps, kind: CredentialKind) {
  const secret = formatCredential(kind, secrets.newBody());
  return { secret, stored: { hash: secrets.hash(secret), display: displayOf(secret) } };
}

/** A name is what people type and read in tables; one that reads as an id would hide the thing with that id. */
function checkName(what: string, prefix: IdPrefix, name: string): void {
  const length = [...name].length;
  if (length < 1 || length > MAX_NAME_LENGTH) {
    throw invalid(
      "name",
      `The name of the ${what} must have 1 to ${MAX_NAME_LENGTH} characters, not ${length}.`,
    );
  }
  if (CONTROL.test(name) || name.trim() !== name) {
    throw invalid(
      "name",
      `The name of the ${what} must not hold control characters, or begin or end with a space.`,
    );
  }
  if (isId(prefix, name)) throw invalid("name", `The name of the ${what} must not have the form of an id.`);
}

function invalid(param: string, message: string): AppError {
  return new AppError("invalid_request", message, { param });
}

function notFound(what: string, idOrName: string): never {
  throw new AppError("not_found", `There is no ${what} ${quote(idOrName)}.`);
}

function quote(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}
