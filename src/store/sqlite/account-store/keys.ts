import { eq } from "drizzle-orm";
import type { Account, ApiKey, KeyChange, Rotation } from "../../../domain/access/account.ts";
import { changePolicy } from "../../../domain/access/key-policy.ts";
import { changeSigning } from "../../../domain/callback/signature.ts";
import type { AccountId, KeyId } from "../../../domain/ids.ts";
import type { Connection } from "../connection.ts";
import type { Quotas } from "../quotas.ts";
import type { prepareKeyReads } from "./key-reads.ts";
import { apiKey } from "./key-table.ts";

export interface KeyDeps {
  readonly reads: ReturnType<typeof prepareKeyReads>;
  readonly quotas: Quotas;
  readonly accountById: (id: AccountId) => Account | undefined;
}

/** Creates and changes API keys. */
export function prepareKeys({ db, orm }: Connection, { reads, quotas, accountById }: KeyDeps) {
  const { byId, callbackSecret, isNameTaken } = reads;
  const revoke = db.prepare<never, [now: number, id: string]>(
    "update api_key set revoked_at = ? where id = ? and revoked_at is null",
  );

  function changeable(id: KeyId): ApiKey | "revoked" | "not_found" {
    const found = byId(id);
    if (found === undefined) return "not_found";
    return found.revokedAt === undefined ? found : "revoked";
  }

  return {
    create(key: ApiKey, secret?: string) {
      if (accountById(key.accountId) === undefined) return "no_account" as const;
      if (isNameTaken(key.name, key.accountId)) return "name_taken" as const;
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
      // Drizzle ignores undefined values.
      const secret = signing && changeSigning(callbackSecret(id), signing);
      orm
        .update(apiKey)
        .set({ ...after, callbackSecret: secret })
        .where(eq(apiKey.id, id))
        .run();
      // Periods of different lengths may start on the same day.
      if (before.policy.quota?.reset !== after.policy.quota?.reset) quotas.forget(before.accountId, id);
      return {
        ...before,
        ...after,
        expiresAt: after.expiresAt ?? undefined,
        signsCallbacks: signing === undefined ? before.signsCallbacks : signing !== null,
      };
    },
    rotate(id: KeyId, rotation: Rotation): ApiKey | "revoked" | "not_found" {
      const before = changeable(id);
      if (typeof before === "string") return before;
      orm.update(apiKey).set(rotated(before, rotation)).where(eq(apiKey.id, id)).run();
      return byId(id) ?? "not_found";
    },
    revoke(id: KeyId, now: number) {
      if (revoke.run(now, id).changes === 1) return "revoked" as const;
      return byId(id) === undefined ? ("not_found" as const) : ("already_revoked" as const);
    },
  };
}

function rotated(before: ApiKey, { hash, display, previousExpiresAt }: Rotation) {
  return previousExpiresAt === undefined
    ? { hash, display, previousHash: null, previousDisplay: null, previousExpiresAt: null }
    : { hash, display, previousHash: before.hash, previousDisplay: before.display, previousExpiresAt };
}
