import type { ManagementToken } from "../../../domain/access/account.ts";
import type { Act } from "../../../domain/access/actor.ts";
import type { TokenId } from "../../../domain/ids.ts";
import { beginningOf } from "../../../domain/lists.ts";
import type { ListPage } from "../../../domain/ports/account-store.ts";
import { tokenMade, tokenRevoked } from "../../sqlite/account-store/notes.ts";
import { managementToken, toManagementToken } from "../../sqlite/account-store/token-table.ts";
import type { RawRow } from "../../sqlite/raw-row.ts";
import { rowOf } from "../row.ts";
import { type Parameter, type Session, statement } from "../session.ts";
import { writeTrail } from "../trail.ts";

type Row = RawRow<typeof managementToken>;

const FIND = statement<Row, [idOrName: string]>(
  `select * from management_token where id = $1 or name = $1 and revoked_at is null order by id = $1 desc limit 1`,
);
const BY_HASH = statement<Row, [hash: string]>("select * from management_token where hash = $1");
const PAGE = {
  asc: statement<Row, [after: string, limit: number]>(
    "select * from management_token where id > $1 order by id limit $2",
  ),
  desc: statement<Row, [after: string, limit: number]>(
    "select * from management_token where id < $1 order by id desc limit $2",
  ),
};
const LAST_REVOKED = statement<Row, [name: string]>(
  "select * from management_token where name = $1 and revoked_at is not null order by revoked_at desc limit 1",
);
const INSERT = statement<never, Parameter[]>(
  `insert into management_token (id, name, hash, display, created_at, revoked_at, scopes, expires_at, last_used_at)
   select $1::text, $2::text, $3::text, $4::text, $5::bigint, $6::bigint, $7::text, $8::bigint, $9::bigint
   where not exists (select 1 from management_token where id = $2)
   on conflict (name) where revoked_at is null do nothing`,
);
const USE = statement<never, [now: number, id: string]>(
  "update management_token set last_used_at = $1 where id = $2",
);
const REVOKE = statement<never, [now: number, id: string]>(
  "update management_token set revoked_at = $1 where id = $2 and revoked_at is null",
);
const IS_THERE = statement<{ there: 1 }, [id: string]>(
  "select 1 as there from management_token where id = $1",
);

const toRow = rowOf(managementToken);
const toToken = (row: Row) => toManagementToken(toRow(row));

/** By id, or by name among the tokens that are not revoked. */
export async function findToken(session: Session, idOrName: string): Promise<ManagementToken | undefined> {
  const row = await FIND.get(session, idOrName);
  return row && toToken(row);
}

export async function tokenOf(session: Session, hash: string): Promise<ManagementToken | undefined> {
  const row = await BY_HASH.get(session, hash);
  return row && toToken(row);
}

export async function tokenPage(
  session: Session,
  { order = "asc", after = beginningOf(order), limit }: ListPage,
): Promise<ManagementToken[]> {
  return (await PAGE[order].all(session, after, limit)).map(toToken);
}

/** The token of a name that was revoked last. */
export async function revokedToken(session: Session, name: string): Promise<ManagementToken | undefined> {
  const row = await LAST_REVOKED.get(session, name);
  return row && toToken(row);
}

export async function createToken(session: Session, token: ManagementToken, act?: Act) {
  const inserted = await INSERT.run(
    session,
    ...[token.id, token.name, token.hash, token.display, token.createdAt, token.revokedAt ?? null],
    ...[JSON.stringify(token.scopes), token.expiresAt ?? null, token.lastUsedAt ?? null],
  );
  if (inserted === 0) return "name_taken" as const;
  await writeTrail(session, act, tokenMade(token, act));
  return "created" as const;
}

export async function useToken(session: Session, id: TokenId, now: number): Promise<void> {
  await USE.run(session, now, id);
}

export async function revokeToken(session: Session, id: TokenId, now: number, act?: Act) {
  const before = act && (await findToken(session, id));
  if ((await REVOKE.run(session, now, id)) === 1) {
    await writeTrail(session, act, tokenRevoked(before, now, act));
    return "revoked" as const;
  }
  const isThere = (await IS_THERE.get(session, id)) !== undefined;
  return isThere ? ("already_revoked" as const) : ("not_found" as const);
}
