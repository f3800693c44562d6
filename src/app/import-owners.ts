import type { ApiKey } from "../domain/access/account.ts";
import { changePolicy, OPEN_POLICY } from "../domain/access/key-policy.ts";
import { AppError } from "../domain/errors.ts";
import type { AccountId } from "../domain/ids.ts";
import { ZERO } from "../domain/money/money.ts";
import type { BroughtAccount, BroughtKey, ImportStore } from "../domain/ports/import-store.ts";
import { NOBODYS, type PlannedAccount, type PlannedKey, type PlannedOwners } from "../moving/plan.ts";
import { checkKeyTerms } from "../service/key-terms.ts";
import { actNow, type ManageAccountDeps, newAccount, newCredential } from "../service/management.ts";

/** The new secret of a key that could not keep its own. */
export interface BroughtSecret {
  readonly name: string;
  /** What was told of the old one. */
  readonly before: string;
  readonly key: string;
}

/** Keeps new secrets, and returns what forgets them again. */
export type KeepSecrets = (secrets: readonly BroughtSecret[]) => () => void;

interface Around {
  readonly name: string;
  readonly deps: ManageAccountDeps;
  readonly imports: ImportStore;
  /** The account for keys without an owner; absent if there are none. */
  readonly fallback: AccountId | undefined;
  readonly keep: KeepSecrets;
}

/** Imports accounts and keys, all or none. @throws AppError `invalid_request` for a clash with something that was added meanwhile */
export async function bringOwners({ accounts, keys }: PlannedOwners, around: Around): Promise<void> {
  const { name, deps, imports, keep } = around;
  const brought = accounts.map((each) => accountOf(each, deps));
  const idOf = new Map(brought.map(({ origin, account }) => [origin, account.id]));
  const secrets: BroughtSecret[] = [];
  const records = keys.map((each) => keyOf(each, { ...around, idOf, secrets }));
  const forget = secrets.length > 0 ? keep(secrets) : undefined;
  // Whether a write that failed is there after all, nobody knows. Only after a clash, nothing is.
  const result = await imports.bringIn({ source: name, accounts: brought, keys: records }, actNow(deps));
  if (result.kind === "brought") return;
  forget?.();
  throw new AppError("invalid_request", { kind: "import_clash", of: result.of, name: result.name });
}

function accountOf({ held, name }: PlannedAccount, deps: ManageAccountDeps): BroughtAccount {
  const { origin, credit, isSuspended, priceMultiplier } = held;
  const mode = credit === undefined ? "unlimited" : "prepaid";
  return {
    origin,
    account: newAccount(deps, { name, mode, credit: credit ?? ZERO }),
    terms: { ...(isSuspended && { status: "suspended" }), ...(priceMultiplier && { priceMultiplier }) },
  };
}

function keyOf(
  { held, name, account }: PlannedKey,
  around: Pick<Around, "deps" | "fallback"> & {
    readonly idOf: ReadonlyMap<string, AccountId>;
    readonly secrets: BroughtSecret[];
  },
): BroughtKey {
  const { deps, fallback, idOf, secrets } = around;
  const change = checkKeyTerms(held.terms, { ...deps, now: deps.clock.now() });
  const isNobodys = (held.account ?? NOBODYS) === NOBODYS;
  // Existing accounts are named by their ids; others are in the same batch.
  const owner = isNobodys ? fallback : "id" in account ? (account.id as AccountId) : idOf.get(account.origin);
  if (owner === undefined) throw new Error("A key was planned without its account.");
  const key: Omit<ApiKey, "hash" | "display"> = {
    ...{ id: deps.ids.create("key"), accountId: owner, name },
    policy: changePolicy(OPEN_POLICY, change.policy),
    ...{ signsCallbacks: false, createdAt: deps.clock.now(), expiresAt: change.expiresAt ?? undefined },
  };
  if (held.hash !== undefined)
    return { origin: held.origin, key: { ...key, hash: held.hash, display: held.display } };
  const { secret, stored } = newCredential(deps, "api_key");
  secrets.push({ name, before: held.display, key: secret });
  return { origin: held.origin, key: { ...key, ...stored } };
}
