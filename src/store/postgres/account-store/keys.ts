import type { ApiKey } from "../../../domain/access/account.ts";
import type { Act } from "../../../domain/access/actor.ts";
import type { KeyId } from "../../../domain/ids.ts";
import type { Seal } from "../../../domain/ports/runtime.ts";
import { keyMade } from "../../sqlite/account-store/notes.ts";
import { type Parameter, type Session, statement } from "../session.ts";
import { writeTrail } from "../trail.ts";
import { findAccount } from "./accounts.ts";

const INSERT = statement<never, Parameter[]>(
  `insert into api_key (id, account_id, name, hash, display, created_at, expires_at, policy, callback_secret)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
   on conflict (account_id, name) where revoked_at is null do nothing`,
);

/** Creates and changes API keys. All of it holds the row of the key's account (`writeFor`). */
export function createKeys(seal: Seal | undefined) {
  const sealed = (secret: string, id: KeyId) => seal?.seal(secret, id) ?? secret;

  return {
    async create(session: Session, key: ApiKey, secret?: string, act?: Act) {
      if ((await findAccount(session, key.accountId)) === undefined) return "no_account" as const;
      const inserted = await INSERT.run(
        session,
        ...[key.id, key.accountId, key.name, key.hash, key.display, key.createdAt],
        ...[key.expiresAt ?? null, JSON.stringify(key.policy)],
        secret === undefined ? null : sealed(secret, key.id),
      );
      if (inserted === 0) return "name_taken" as const;
      await writeTrail(session, act, keyMade(key, act));
      return "created" as const;
    },
  };
}
