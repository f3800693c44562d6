import { and, asc, eq, isNull, or, sql } from "drizzle-orm";
import type { ApiKey, KeyChange, KeyGrant, Rotation } from "../../../domain/access/account.ts";
import { changePolicy } from "../../../domain/access/key-policy.ts";
import { changeSigning } from "../../../domain/callback/signature.ts";
import type { AccountId, KeyId } from "../../../domain/ids.ts";
import type { Connection } from "../connection.ts";
import { prepareQuotas } from "../quotas.ts";
import { account } from "./account-table.ts";
import { apiKey, toApiKey } from "./key-table.ts";

/** API keys. */
export function prepareKeys({ db, orm }: Connection) {
  const quotas = prepareQuotas(db);
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
      priceMultiplier: account.priceMultiplier,
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
  const secretOf = db.prepare<{ secret: string | null }, [key: string]>(
    "select callback_secret as secret from api_key where id = ?",
  );

  function callbackSecret(id: KeyId): string | undefined {
    return secretOf.get(id)?.secret ?? undefined;
  }

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
    quotaUse: quotas.use,
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
    callbackSecret,
    create(key: ApiKey, secret?: string) {
      if (accountById.get({ id: key.accountId }) === undefined) return "no_account" as const;
      if (valid(key.name).some((other) => other.accountId === key.accountId)) return "name_taken" as const;
      orm
        .insert(apiKey)
        .values({ ...key, callbackSecret: secret })
        .run();
      return "created" as const;
    },
    change(id: KeyId, { policy, expiresAt, signing }: KeyChange): ApiKey | "revoked" | "not_found" {
      const before = changeable(id);
      if (typeof before === "string") return before;
      const after = {
        policy: changePolicy(before.policy, policy),
        expiresAt: expiresAt === undefined ? (before.expiresAt ?? null) : expiresAt,
      };
      // Drizzle leaves out what is undefined.
      const secret = signing && changeSigning(callbackSecret(id), signing);
      orm
        .update(apiKey)
        .set({ ...after, callbackSecret: secret })
        .where(eq(apiKey.id, id))
        .run();
      // Periods of different lengths may begin on the same day.
      if (before.policy.quota?.reset !== after.policy.quota?.reset) quotas.forget(before.accountId, id);
      return {
        ...before,
        ...after,
        expiresAt: after.expiresAt ?? undefined,
        signsCallbacks: signing === undefined ? before.signsCallbacks : signing !== null,
      };
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
