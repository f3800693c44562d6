import { eq, or, sql } from "drizzle-orm";
import type { KeyGrant } from "../../../domain/access/account.ts";
import type { Connection } from "../connection.ts";
import { account } from "./account-table.ts";
import { apiKey } from "./key-table.ts";

/** Returns a function that reads the grant of the key whose secret, or previous secret, has this hash. */
export function prepareGrant({ orm }: Connection): (hash: string) => KeyGrant | undefined {
  const grantByHash = orm
    .select({
      keyId: apiKey.id,
      keyName: apiKey.name,
      accountId: apiKey.accountId,
      accountStatus: account.status,
      priceMultiplier: account.priceMultiplier,
      retainOutputsSec: account.retainOutputsSec,
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
  return (hash) => {
    const row = grantByHash.get({ hash });
    return row && toGrant(row, hash);
  };
}

/** The columns that are read from a key and its account. */
export interface Granted extends Omit<KeyGrant, "retainOutputsSec" | "expiresAt" | "revokedAt"> {
  readonly retainOutputsSec: number | null;
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
  readonly hash: string;
  readonly previousExpiresAt: number | null;
}

/** @param hash of the secret that was presented */
export function toGrant(row: Granted, hash: string): KeyGrant {
  const { hash: ownHash, previousExpiresAt, revokedAt, retainOutputsSec, ...grant } = row;
  const ends = [grant.expiresAt, ownHash === hash ? null : previousExpiresAt].filter((at) => at !== null);
  return {
    ...grant,
    retainOutputsSec: retainOutputsSec ?? undefined,
    expiresAt: ends.length === 0 ? undefined : Math.min(...ends),
    revokedAt: revokedAt ?? undefined,
  };
}
