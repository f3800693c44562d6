import { and, asc, desc, eq, gt, isNotNull, isNull, lt, or, sql } from "drizzle-orm";
import type { ManagementToken } from "../../../domain/access/account.ts";
import type { Act } from "../../../domain/access/actor.ts";
import type { TokenId } from "../../../domain/ids.ts";
import { beginningOf } from "../../../domain/lists.ts";
import type { ListPage } from "../../../domain/ports/account-store.ts";
import type { Connection } from "../connection.ts";
import type { Trail } from "../trail.ts";
import { tokenMade, tokenRevoked } from "./notes.ts";
import { managementToken, toManagementToken } from "./token-table.ts";

/** Management tokens. */
export function prepareTokens({ db, orm }: Connection, parts: { readonly trail: Trail }) {
  const revoke = db.prepare<never, [now: number, id: string]>(
    "update management_token set revoked_at = ? where id = ? and revoked_at is null",
  );

  const use = db.prepare<never, [now: number, id: string]>(
    "update management_token set last_used_at = ? where id = ?",
  );

  /** By id, or by name among the tokens that are not revoked. */
  function find(idOrName: string): ManagementToken | undefined {
    const { id, name, revokedAt } = managementToken;
    // The text may be no id; then it matches none.
    const isId = eq(id, idOrName as TokenId);
    const row = orm
      .select()
      .from(managementToken)
      .where(or(isId, and(eq(name, idOrName), isNull(revokedAt))))
      .orderBy(sql`${isId} desc`)
      .get();
    return row && toManagementToken(row);
  }

  const lists = prepareLists(orm);
  const byHash = orm
    .select()
    .from(managementToken)
    .where(eq(managementToken.hash, sql.placeholder("hash")))
    .prepare();

  return {
    find,
    byHash(hash: string): ManagementToken | undefined {
      return byHash.all({ hash }).map(toManagementToken)[0];
    },
    ...lists,
    create(token: ManagementToken, act?: Act) {
      if (find(token.name) !== undefined) return "name_taken" as const;
      orm
        .insert(managementToken)
        .values({ ...token })
        .run();
      parts.trail(act, tokenMade(token, act));
      return "created" as const;
    },
    use: (id: TokenId, now: number) => void use.run(now, id),
    revoke(id: TokenId, now: number, act?: Act) {
      const before = act && find(id);
      if (revoke.run(now, id).changes === 1) {
        parts.trail(act, tokenRevoked(before, now, act));
        return "revoked" as const;
      }
      const there = orm.select().from(managementToken).where(eq(managementToken.id, id)).get();
      return there === undefined ? ("not_found" as const) : ("already_revoked" as const);
    },
  };
}

/** Lists management tokens, and finds revoked ones. */
function prepareLists(orm: Connection["orm"]) {
  return {
    page: ({ order = "asc", after = beginningOf(order), limit }: ListPage): ManagementToken[] =>
      orm
        .select()
        .from(managementToken)
        .where((order === "asc" ? gt : lt)(managementToken.id, after as TokenId))
        .orderBy((order === "asc" ? asc : desc)(managementToken.id))
        .limit(limit)
        .all()
        .map(toManagementToken),
    revoked: (wanted: string): ManagementToken | undefined =>
      orm
        .select()
        .from(managementToken)
        .where(and(eq(managementToken.name, wanted), isNotNull(managementToken.revokedAt)))
        .orderBy(desc(managementToken.revokedAt))
        .limit(1)
        .all()
        .map(toManagementToken)[0],
  };
}
