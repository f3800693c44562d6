import { and, asc, eq, isNull, or, sql } from "drizzle-orm";
import { changePolicy } from "../../domain/access.ts";
import type {
  Account,
  ApiKey,
  KeyChange,
  KeyGrant,
  ManagementToken,
  Rotation,
} from "../../domain/account.ts";
import { AppError } from "../../domain/errors.ts";
import type { AccountId, KeyId, TokenId } from "../../domain/ids.ts";
import { creditEntry, type LedgerEntry } from "../../domain/ledger.ts";
import { formatAmount, type Micros, ZERO } from "../../domain/money.ts";
import type { AccountStore, NewAccount } from "../../domain/ports/account-store.ts";
import type { Connection } from "./connection.ts";
import { createGrantCache } from "./grant-cache.ts";
import { toAccount, toApiKey, toLedgerEntry, toManagementToken } from "./rows.ts";
import { account, apiKey, ledgerEntry, managementToken } from "./schema.ts";
import { prepareLedger } from "./task-store/money.ts";

/** Accounts, keys and tokens in SQLite. */
export function createAccountStore(connection: Connection): AccountStore {
  const { read, write } = connection;
  const accounts = prepareAccounts(connection);
  const keys = prepareKeys(connection);
  const tokens = prepareTokens(connection);
  const grants = createGrantCache(connection.db, keys.grant);
  const tokenGrants = createGrantCache(connection.db, tokens.byHash);

  /** What was seen before a change is not seen once it is committed. */
  async function thenClear<T>(cache: { clear(): void }, committed: Promise<T>): Promise<T> {
    const result = await committed;
    cache.clear();
    return result;
  }

  return {
    createAccount: (created) => write(() => accounts.create(created)),
    accounts: async () => read(() => accounts.all()),
    account: async (idOrName) => read(() => accounts.find(idOrName)),
    credit: (id, amount, reason, now) => write(() => accounts.credit(id, amount, reason, now)),
    ledger: async (id) => read(() => accounts.ledger(id)),
    createKey: (key) => write(() => keys.create(key)),
    keys: async (owner) => read(() => keys.all(owner)),
    key: async (idOrName) => read(() => keys.find(idOrName)),
    revokeKey: (id, now) =>
      thenClear(
        grants,
        write(() => keys.revoke(id, now)),
      ),
    changeKey: (id, change) =>
      thenClear(
        grants,
        write(() => keys.change(id, change)),
      ),
    rotateKey: (id, rotation) =>
      thenClear(
        grants,
        write(() => keys.rotate(id, rotation)),
      ),
    grantByHash: (hash, now) => read(() => grants.get(hash, now)),
    createToken: (token) => write(() => tokens.create(token)),
    tokens: async () => read(() => tokens.all()),
    token: async (idOrName) => read(() => tokens.find(idOrName)),
    tokenByHash: (hash, now) => read(() => tokenGrants.get(hash, now)),
    revokeToken: (id, now) =>
      thenClear(
        tokenGrants,
        write(() => tokens.revoke(id, now)),
      ),
  };
}

function prepareAccounts({ db, orm }: Connection) {
  const entries = prepareLedger(db);
  const named = orm
    .select()
    .from(account)
    .where(eq(account.name, sql.placeholder("name")))
    .prepare();
  const byId = orm
    .select()
    .from(account)
    .where(eq(account.id, sql.placeholder("id")))
    .prepare();

  function find(idOrName: string): Account | undefined {
    const row = byId.get({ id: idOrName }) ?? named.get({ name: idOrName });
    return row && toAccount(row);
  }

  function entryFor(amount: Micros, reason: string): LedgerEntry {
    return amount > 0
      ? creditEntry(amount, reason)
      : { kind: "adjustment", balanceDelta: amount, heldDelta: ZERO, reason };
  }

  return {
    find,
    all: (): Account[] => orm.select().from(account).orderBy(asc(account.id)).all().map(toAccount),
    create({ id, name, mode, credit, createdAt }: NewAccount) {
      if (named.get({ name }) !== undefined) return "name_taken" as const;
      orm
        .insert(account)
        .values({ id, name, mode, status: "active", balanceMicros: 0, heldMicros: 0, createdAt })
        .run();
      if (credit > 0) entries.post(id, [creditEntry(credit, "first credit")], createdAt);
      return "created" as const;
    },
    credit(id: AccountId, amount: Micros, reason: string, now: number): Account | undefined {
      const before = byId.get({ id });
      if (before === undefined || amount === 0) return before && toAccount(before);
      const available = before.balanceMicros - before.heldMicros;
      if (before.mode === "prepaid" && amount < 0 && available + amount < 0) {
        throw new AppError(
          "invalid_request",
          `The account has ${formatAmount(toAccount(before).balance)}, ${formatAmount(toAccount(before).held)} of it held; ${formatAmount(amount)} would leave less than is held.`,
        );
      }
      entries.post(id, [entryFor(amount, reason)], now);
      return find(id);
    },
    ledger: (id: AccountId) =>
      orm
        .select()
        .from(ledgerEntry)
        .where(eq(ledgerEntry.accountId, id))
        .orderBy(asc(ledgerEntry.id))
        .all()
        .map(toLedgerEntry),
  };
}

function prepareKeys({ db, orm }: Connection) {
  const accountById = orm
    .select()
    .from(account)
    .where(eq(account.id, sql.placeholder("id")))
    .prepare();
  const grantByHash = orm
    .select({
      keyId: apiKey.id,
      keyName: apiKey.name,
      accountId: apiKey.accountId,
      accountStatus: account.status,
      policy: apiKey.policy,
      expiresAt: apiKey.expiresAt,
      revokedAt: apiKey.revokedAt,
      hash: apiKey.hash,
      previousExpiresAt: apiKey.previousExpiresAt,
    })
    .from(apiKey)
    .innerJoin(account, eq(account.id, apiKey.accountId))
    .where(or(eq(apiKey.hash, sql.placeholder("hash")), eq(apiKey.previousHash, sql.placeholder("hash"))))
    .prepare();
  const revoke = db.prepare<never, [now: number, id: string]>(
    "update api_key set revoked_at = ? where id = ? and revoked_at is null",
  );

  function valid(name: string) {
    return orm
      .select()
      .from(apiKey)
      .where(and(eq(apiKey.name, name), isNull(apiKey.revokedAt)))
      .all();
  }

  function byId(id: KeyId): ApiKey | undefined {
    const row = orm.select().from(apiKey).where(eq(apiKey.id, id)).get();
    return row && toApiKey(row);
  }

  function changeable(id: KeyId): ApiKey | "revoked" | "not_found" {
    const found = byId(id);
    if (found === undefined) return "not_found";
    return found.revokedAt === undefined ? found : "revoked";
  }

  return {
    grant(hash: string): KeyGrant | undefined {
      const row = grantByHash.get({ hash });
      if (row === undefined) return undefined;
      const { hash: ownHash, previousExpiresAt, revokedAt, ...grant } = row;
      const ends = [grant.expiresAt, ownHash === hash ? null : previousExpiresAt].filter((at) => at !== null);
      return {
        ...grant,
        expiresAt: ends.length === 0 ? undefined : Math.min(...ends),
        revokedAt: revokedAt ?? undefined,
      };
    },
    all(owner?: AccountId): ApiKey[] {
      const wanted = owner === undefined ? undefined : eq(apiKey.accountId, owner);
      return orm.select().from(apiKey).where(wanted).orderBy(asc(apiKey.id)).all().map(toApiKey);
    },
    find(idOrName: string): ApiKey | undefined {
      // An id is only ever compared as text here; one that is none of ours finds nothing.
      const found = byId(idOrName as KeyId);
      if (found !== undefined) return found;
      const named = valid(idOrName);
      return named[0] && named.length === 1 ? toApiKey(named[0]) : undefined;
    },
    create(key: ApiKey) {
      if (accountById.get({ id: key.accountId }) === undefined) return "no_account" as const;
      if (valid(key.name).some((other) => other.accountId === key.accountId)) return "name_taken" as const;
      orm
        .insert(apiKey)
        .values({ ...key })
        .run();
      return "created" as const;
    },
    change(id: KeyId, { policy, expiresAt }: KeyChange): ApiKey | "revoked" | "not_found" {
      const before = changeable(id);
      if (typeof before === "string") return before;
      const after = {
        policy: changePolicy(before.policy, policy),
        expiresAt: expiresAt === undefined ? (before.expiresAt ?? null) : expiresAt,
      };
      orm.update(apiKey).set(after).where(eq(apiKey.id, id)).run();
      return { ...before, ...after, expiresAt: after.expiresAt ?? undefined };
    },
    rotate(id: KeyId, { hash, display, previousExpiresAt }: Rotation): ApiKey | "revoked" | "not_found" {
      const before = changeable(id);
      if (typeof before === "string") return before;
      const previous =
        previousExpiresAt === undefined
          ? { previousHash: null, previousDisplay: null, previousExpiresAt: null }
          : { previousHash: before.hash, previousDisplay: before.display, previousExpiresAt };
      orm
        .update(apiKey)
        .set({ hash, display, ...previous })
        .where(eq(apiKey.id, id))
        .run();
      return byId(id) ?? "not_found";
    },
    revoke(id: KeyId, now: number) {
      if (revoke.run(now, id).changes === 1) return "revoked" as const;
      return byId(id) === undefined ? ("not_found" as const) : ("already_revoked" as const);
    },
  };
}

function prepareTokens({ db, orm }: Connection) {
  const revoke = db.prepare<never, [now: number, id: string]>(
    "update management_token set revoked_at = ? where id = ? and revoked_at is null",
  );

  /** By id, or by name among those not revoked. */
  function find(idOrName: string): ManagementToken | undefined {
    const { id, name, revokedAt } = managementToken;
    // An id is only ever compared as text here; one that is none of ours finds nothing.
    const isId = eq(id, idOrName as TokenId);
    const row = orm
      .select()
      .from(managementToken)
      .where(or(isId, and(eq(name, idOrName), isNull(revokedAt))))
      .orderBy(sql`${isId} desc`)
      .get();
    return row && toManagementToken(row);
  }

  const byHash = orm
    .select()
    .from(managementToken)
    .where(eq(managementToken.hash, sql.placeholder("hash")))
    .prepare();

  return {
    find,
    byHash(hash: string): ManagementToken | undefined {
      const row = byHash.get({ hash });
      return row && toManagementToken(row);
    },
    all: (): ManagementToken[] =>
      orm.select().from(managementToken).orderBy(asc(managementToken.id)).all().map(toManagementToken),
    create(token: ManagementToken) {
      if (find(token.name) !== undefined) return "name_taken" as const;
      orm
        .insert(managementToken)
        .values({ ...token })
        .run();
      return "created" as const;
    },
    revoke(id: TokenId, now: number) {
      if (revoke.run(now, id).changes === 1) return "revoked" as const;
      const there = orm.select().from(managementToken).where(eq(managementToken.id, id)).get();
      return there === undefined ? ("not_found" as const) : ("already_revoked" as const);
    },
  };
}
