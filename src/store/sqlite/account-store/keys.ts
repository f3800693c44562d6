import { and, asc, desc, eq, gt, isNotNull, isNull, lt, type SQL, sql } from "drizzle-orm";
import type { ApiKey, KeyChange, Rotation } from "../../../domain/access/account.ts";
import type { Act } from "../../../domain/access/actor.ts";
import { changePolicy } from "../../../domain/access/key-policy.ts";
import { changeSigning } from "../../../domain/callback/signature.ts";
import type { AccountId, KeyId } from "../../../domain/ids.ts";
import { beginningOf, type ListOrder } from "../../../domain/lists.ts";
import { type KeyPage, LOCKED } from "../../../domain/ports/account-store.ts";
import type { Seal } from "../../../domain/ports/runtime.ts";
import { madeAtUse } from "../../../toolkit/made-at-use.ts";
import type { Connection } from "../connection.ts";
import type { Quotas } from "../quotas.ts";
import type { Trail } from "../trail.ts";
import type { Accounts } from "./accounts.ts";
import { apiKey, LIMITED, toApiKey } from "./key-table.ts";
import { prepareNames } from "./names.ts";
import { keyChanged, keyMade } from "./notes.ts";

/** Lists API keys. */
function preparePages({ db, orm }: Connection) {
  const after = sql.placeholder("after");
  const isOfOwner = eq(apiKey.accountId, sql.placeholder("owner"));
  const pages = (order: ListOrder, ...among: SQL[]) =>
    orm
      .select()
      .from(apiKey)
      .where(and(...among, order === "asc" ? gt(apiKey.id, after) : lt(apiKey.id, after)))
      .orderBy(order === "asc" ? asc(apiKey.id) : desc(apiKey.id))
      .limit(sql.placeholder("limit"))
      .prepare();
  const inBoth = (...among: SQL[]) =>
    madeAtUse({ asc: () => pages("asc", ...among), desc: () => pages("desc", ...among) });
  const isLimited = sql.raw(LIMITED);
  const all = { all: inBoth(), limited: inBoth(isLimited) };
  const owned = { all: inBoth(isOfOwner), limited: inBoth(isOfOwner, isLimited) };
  return {
    page({ account: owner, isLimited, order = "asc", after = beginningOf(order), limit }: KeyPage): ApiKey[] {
      const kind = isLimited === true ? "limited" : "all";
      const rows =
        owner === undefined
          ? all[kind][order].all({ after, limit })
          : owned[kind][order].all({ after, limit, owner });
      return rows.map(toApiKey);
    },
    names: prepareNames(db, "api_key"),
  };
}

/** Finds API keys by their name, which each account may give to one that is not revoked. */
function prepareNamed({ orm }: Connection) {
  /** The keys of a name that are not revoked, newest first. */
  function valid(name: string, limit: number): ApiKey[] {
    const isValid = and(eq(apiKey.name, name), isNull(apiKey.revokedAt));
    return orm.select().from(apiKey).where(isValid).orderBy(desc(apiKey.id)).limit(limit).all().map(toApiKey);
  }

  /** The key of a name that was revoked last. */
  function revoked(name: string): ApiKey[] {
    const isRevoked = and(eq(apiKey.name, name), isNotNull(apiKey.revokedAt));
    const latest = [desc(apiKey.revokedAt), desc(apiKey.id)];
    return orm
      .select()
      .from(apiKey)
      .where(isRevoked)
      .orderBy(...latest)
      .limit(1)
      .all()
      .map(toApiKey);
  }

  return {
    valid,
    named(name: string, limit: number): ApiKey[] {
      const found = valid(name, limit);
      return found.length > 0 ? found : revoked(name);
    },
  };
}

/** Finds API keys. */
function prepareReads(connection: Connection, seal: Seal | undefined) {
  const { db, orm } = connection;
  const named = prepareNamed(connection);
  const statements = madeAtUse({
    secretOf: () =>
      db.prepare<{ secret: string | null }, [key: string]>(
        "select callback_secret as secret from api_key where id = ?",
      ),
    taken: () =>
      db.prepare<{ taken: 1 }, [account: string, name: string]>(
        "select 1 as taken from api_key where account_id = ? and name = ? and revoked_at is null",
      ),
  });

  function byId(id: KeyId): ApiKey | undefined {
    return orm.select().from(apiKey).where(eq(apiKey.id, id)).all().map(toApiKey)[0];
  }

  return {
    byId,
    changeable(id: KeyId): ApiKey | "revoked" | "not_found" {
      const found = byId(id);
      if (found === undefined) return "not_found";
      return found.revokedAt === undefined ? found : "revoked";
    },
    callbackSecret(id: KeyId): string | typeof LOCKED | undefined {
      const stored = statements.secretOf.get(id)?.secret ?? undefined;
      // An older program running at the same time still stores them unencrypted; the next start seals them.
      if (stored === undefined || seal === undefined || seal.stateOf(stored) === "clear") return stored;
      return seal.open(stored, id) ?? LOCKED;
    },
    isNameTaken: (name: string, owner: AccountId) => statements.taken.get(owner, name) !== null,
    ...preparePages(connection),
    ...named,
    find(idOrName: string): ApiKey | undefined {
      // The text may not be an id; then it matches none.
      const found = byId(idOrName as KeyId);
      if (found !== undefined) return found;
      const [only, ...others] = named.valid(idOrName, 2);
      return others.length === 0 ? only : undefined;
    },
  };
}

/** Writes a new key. A raw statement: the first query that drizzle builds takes milliseconds. */
function prepareInsert({ db }: Connection) {
  const row = db.prepare(
    `insert into api_key (id, account_id, name, hash, display, created_at, expires_at, policy, callback_secret)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  return (key: ApiKey, secret: string | undefined) =>
    void row.run(
      ...[key.id, key.accountId, key.name, key.hash, key.display, key.createdAt],
      ...[key.expiresAt ?? null, JSON.stringify(key.policy), secret ?? null],
    );
}

/** The trail's record of a change of signing secrets. It never contains a secret. */
export const REPLACED = { callback_secret: "replaced" };

/** Changes what a key may do, and the secret that signs its callbacks. */
function prepareChange(
  { orm }: Connection,
  use: { readonly quotas: Quotas; readonly trail: Trail },
  {
    changeable,
    callbackSecret,
    sealed,
  }: Pick<ReturnType<typeof prepareReads>, "changeable" | "callbackSecret"> & {
    readonly sealed: (secret: string, id: KeyId) => string;
  },
) {
  return function change(
    id: KeyId,
    { policy, expiresAt, signing }: KeyChange,
    act?: Act,
  ): ApiKey | "revoked" | "not_found" {
    const before = changeable(id);
    if (typeof before === "string") return before;
    const after = {
      policy: changePolicy(before.policy, policy),
      expiresAt: expiresAt === undefined ? (before.expiresAt ?? null) : expiresAt,
    };
    // Drizzle ignores undefined values.
    const secret = signing && sealed(changeSigning(openedOf(callbackSecret(id)), signing), id);
    orm
      .update(apiKey)
      .set({ ...after, callbackSecret: secret })
      .where(eq(apiKey.id, id))
      .run();
    // Periods of different lengths may start on the same day.
    if (before.policy.quota?.reset !== after.policy.quota?.reset) use.quotas.forget(before.accountId, id);
    const changed = {
      ...before,
      ...after,
      expiresAt: after.expiresAt ?? undefined,
      signsCallbacks: signing === undefined ? before.signsCallbacks : signing !== null,
    };
    use.trail(act, keyChanged("key.update", [before, changed], act, signing ? REPLACED : {}));
    return changed;
  };
}

/** Creates and changes API keys. */
export function prepareKeys(
  connection: Connection,
  use: { readonly accounts: Accounts; readonly quotas: Quotas; readonly trail: Trail },
  seal: Seal | undefined,
) {
  const { db, orm } = connection;
  const reads = prepareReads(connection, seal);
  const { byId, changeable, isNameTaken } = reads;
  const insert = prepareInsert(connection);
  const sealed = (secret: string, id: KeyId) => seal?.seal(secret, id) ?? secret;
  const revoke = db.prepare<never, [now: number, id: string]>(
    "update api_key set revoked_at = ? where id = ? and revoked_at is null",
  );

  return {
    ...reads,
    create(key: ApiKey, secret?: string, act?: Act) {
      if (use.accounts.byId(key.accountId) === undefined) return "no_account" as const;
      if (isNameTaken(key.name, key.accountId)) return "name_taken" as const;
      insert(key, secret === undefined ? undefined : sealed(secret, key.id));
      use.trail(act, keyMade(key, act));
      return "created" as const;
    },
    change: prepareChange(connection, use, { ...reads, sealed }),
    rotate(id: KeyId, rotation: Rotation, act?: Act): ApiKey | "revoked" | "not_found" {
      const before = changeable(id);
      if (typeof before === "string") return before;
      orm.update(apiKey).set(rotated(before, rotation)).where(eq(apiKey.id, id)).run();
      const after = byId(id) ?? before;
      use.trail(act, keyChanged("key.rotate", [before, after], act));
      return after;
    },
    revoke(id: KeyId, now: number, act?: Act) {
      const before = act && byId(id);
      if (revoke.run(now, id).changes === 1) {
        if (before !== undefined)
          use.trail(act, keyChanged("key.revoke", [before, { ...before, revokedAt: now }], act));
        return "revoked" as const;
      }
      return byId(id) === undefined ? ("not_found" as const) : ("already_revoked" as const);
    },
  };
}

/** A secret that cannot be opened cannot continue to sign together with its successor either. */
export function openedOf(secret: string | typeof LOCKED | undefined): string | undefined {
  return secret === LOCKED ? undefined : secret;
}

/** The columns of a key that has got another secret. */
export function rotated(before: ApiKey, { hash, display, previousExpiresAt }: Rotation) {
  return previousExpiresAt === undefined
    ? { hash, display, previousHash: null, previousDisplay: null, previousExpiresAt: null }
    : { hash, display, previousHash: before.hash, previousDisplay: before.display, previousExpiresAt };
}
