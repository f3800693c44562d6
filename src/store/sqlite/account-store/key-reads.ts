import { and, asc, eq, isNull } from "drizzle-orm";
import type { ApiKey } from "../../../domain/access/account.ts";
import type { AccountId, KeyId } from "../../../domain/ids.ts";
import type { Connection } from "../connection.ts";
import { apiKey, toApiKey } from "./key-table.ts";

/** Finds API keys. */
export function prepareKeyReads({ db, orm }: Connection) {
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

  return {
    byId,
    callbackSecret,
    isNameTaken: (name: string, owner: AccountId) => valid(name).some(({ accountId }) => accountId === owner),
    all(owner?: AccountId): ApiKey[] {
      const wanted = owner === undefined ? undefined : eq(apiKey.accountId, owner);
      return orm.select().from(apiKey).where(wanted).orderBy(asc(apiKey.id)).all().map(toApiKey);
    },
    find(idOrName: string): ApiKey | undefined {
      // The text may be no id; then it matches none.
      const found = byId(idOrName as KeyId);
      if (found !== undefined) return found;
      const named = valid(idOrName);
      return named[0] && named.length === 1 ? toApiKey(named[0]) : undefined;
    },
  };
}
