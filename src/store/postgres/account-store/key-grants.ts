import type { KeyGrant } from "../../../domain/access/account.ts";
import { type Granted, toGrant } from "../../sqlite/account-store/key-grants.ts";
import { type Session, statement } from "../session.ts";

const BY_HASH = statement<Omit<Granted, "policy"> & { policy: string }, [hash: string]>(
  `select api_key.id as "keyId", api_key.name as "keyName", account_id as "accountId", account.status as "accountStatus",
     price_multiplier as "priceMultiplier", retain_outputs_sec as "retainOutputsSec", policy, expires_at as "expiresAt",
     revoked_at as "revokedAt", hash, previous_expires_at as "previousExpiresAt"
   from api_key join account on account.id = account_id where hash = $1 or previous_hash = $1`,
);

/** The grant of the key whose secret, or previous secret, has this hash. */
export async function grantOf(session: Session, hash: string): Promise<KeyGrant | undefined> {
  const row = await BY_HASH.get(session, hash);
  // Safe: this store wrote it.
  return row && toGrant({ ...row, policy: JSON.parse(row.policy) as KeyGrant["policy"] }, hash);
}
