import type { ApiKey, KeyChange, Rotation } from "../../../domain/access/account.ts";
import type { Act } from "../../../domain/access/actor.ts";
import { changePolicy } from "../../../domain/access/key-policy.ts";
import { changeSigning } from "../../../domain/callback/signature.ts";
import type { AccountId, KeyId } from "../../../domain/ids.ts";
import { beginningOf } from "../../../domain/lists.ts";
import { type KeyPage, LOCKED } from "../../../domain/ports/account-store.ts";
import type { Seal } from "../../../domain/ports/runtime.ts";
import { apiKey, LIMITED, toApiKey } from "../../sqlite/account-store/key-table.ts";
import { openedOf, REPLACED, rotated } from "../../sqlite/account-store/keys.ts";
import { keyChanged, keyMade } from "../../sqlite/account-store/notes.ts";
import type { RawRow } from "../../sqlite/raw-row.ts";
import { quotas } from "../quotas.ts";
import { rowOf } from "../row.ts";
import { type Parameter, type Session, statement } from "../session.ts";
import { writeTrail } from "../trail.ts";
import { findAccount } from "./accounts.ts";

type Row = RawRow<typeof apiKey>;

const BY_ID = statement<Row, [id: string]>("select * from api_key where id = $1");
/** Orders by the absent time, too: the server knows no other way to take the index's order. */
const VALID = statement<Row, [name: string, limit: number]>(
  "select * from api_key where name = $1 and revoked_at is null order by revoked_at desc, id desc limit $2",
);
const REVOKED = statement<Row, [name: string]>(
  "select * from api_key where name = $1 and revoked_at is not null order by revoked_at desc, id desc limit 1",
);
/** @param among conditions that end in `and` */
const pagesOf = <Given extends readonly Parameter[] = []>(among = "") => ({
  asc: statement<Row, [after: string, limit: number, ...Given]>(
    `select * from api_key where ${among} id > $1 order by id limit $2`,
  ),
  desc: statement<Row, [after: string, limit: number, ...Given]>(
    `select * from api_key where ${among} id < $1 order by id desc limit $2`,
  ),
});
const PAGE = { all: pagesOf(), limited: pagesOf(`${LIMITED} and`) };
const PAGE_OF = {
  all: pagesOf<[account: string]>("account_id = $3 and"),
  limited: pagesOf<[account: string]>(`account_id = $3 and ${LIMITED} and`),
};
const OWNER = statement<{ account_id: AccountId }, [id: string]>(
  "select account_id from api_key where id = $1",
);
const SECRET = statement<{ secret: string | null }, [id: string]>(
  "select callback_secret as secret from api_key where id = $1",
);
const INSERT = statement<never, Parameter[]>(
  `insert into api_key (id, account_id, name, hash, display, created_at, expires_at, policy, callback_secret)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
   on conflict (account_id, name) where revoked_at is null do nothing`,
);
const CHANGE = statement<never, [id: string, policy: string, expiresAt: number | null]>(
  "update api_key set policy = $2, expires_at = $3 where id = $1",
);
const SET_SECRET = statement<never, [id: string, secret: string | null]>(
  "update api_key set callback_secret = $2 where id = $1",
);
const ROTATE = statement<never, [id: string, ...Parameter[]]>(
  `update api_key set hash = $2, display = $3, previous_hash = $4, previous_display = $5, previous_expires_at = $6
   where id = $1`,
);
const REVOKE = statement<never, [now: number, id: string]>(
  "update api_key set revoked_at = $1 where id = $2 and revoked_at is null",
);

const toRow = rowOf(apiKey);
const toKey = (row: Row) => toApiKey(toRow(row));

async function findById(session: Session, id: string): Promise<ApiKey | undefined> {
  const row = await BY_ID.get(session, id);
  return row && toKey(row);
}

/** By id, or by name among the keys that are not revoked, if only one account has a key of that name. */
export async function findKey(session: Session, idOrName: string): Promise<ApiKey | undefined> {
  const found = await findById(session, idOrName);
  if (found !== undefined) return found;
  const [named, ...others] = await VALID.all(session, idOrName, 2);
  return named && others.length === 0 ? toKey(named) : undefined;
}

/** Of one account or of all. */
export async function keyPage(
  session: Session,
  { account, isLimited, order = "asc", after = beginningOf(order), limit }: KeyPage,
): Promise<ApiKey[]> {
  const kind = isLimited === true ? "limited" : "all";
  const rows =
    account === undefined
      ? await PAGE[kind][order].all(session, after, limit)
      : await PAGE_OF[kind][order].all(session, after, limit, account);
  return rows.map(toKey);
}

/** The keys of a name that are not revoked, newest first; without any, the one of them that was revoked last. */
export async function keysNamed(session: Session, name: string, limit: number): Promise<ApiKey[]> {
  const valid = await VALID.all(session, name, limit);
  return (valid.length > 0 ? valid : await REVOKED.all(session, name)).map(toKey);
}

/** The account of a key, which never changes. */
export async function ownerOf(session: Session, id: KeyId): Promise<AccountId | undefined> {
  return (await OWNER.get(session, id))?.account_id;
}

async function changeable(session: Session, id: KeyId): Promise<ApiKey | "revoked" | "not_found"> {
  const found = await findById(session, id);
  if (found === undefined) return "not_found";
  return found.revokedAt === undefined ? found : "revoked";
}

/** Creates and changes API keys. Each write holds the row of the key's account (`writeFor`). */
export function createKeys(seal: Seal | undefined) {
  const sealed = (secret: string, id: KeyId) => seal?.seal(secret, id) ?? secret;

  async function callbackSecret(session: Session, id: KeyId): Promise<string | typeof LOCKED | undefined> {
    const stored = (await SECRET.get(session, id))?.secret ?? undefined;
    if (stored === undefined || seal === undefined || seal.stateOf(stored) === "clear") return stored;
    return seal.open(stored, id) ?? LOCKED;
  }

  const change = prepareChange({ callbackSecret, sealed });

  return {
    callbackSecret,
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
    change,
    async rotate(session: Session, id: KeyId, rotation: Rotation, act?: Act) {
      const before = await changeable(session, id);
      if (typeof before === "string") return before;
      const { hash, display, previousHash, previousDisplay, previousExpiresAt } = rotated(before, rotation);
      await ROTATE.run(session, id, hash, display, previousHash, previousDisplay, previousExpiresAt);
      const after = (await findById(session, id)) ?? before;
      await writeTrail(session, act, keyChanged("key.rotate", [before, after], act));
      return after;
    },
    async revoke(session: Session, id: KeyId, now: number, act?: Act) {
      const before = await findById(session, id);
      if (before === undefined) return "not_found" as const;
      if ((await REVOKE.run(session, now, id)) === 0) return "already_revoked" as const;
      await writeTrail(session, act, keyChanged("key.revoke", [before, { ...before, revokedAt: now }], act));
      return "revoked" as const;
    },
  };
}

interface Signing {
  readonly callbackSecret: (session: Session, id: KeyId) => Promise<string | typeof LOCKED | undefined>;
  readonly sealed: (secret: string, id: KeyId) => string;
}

/** Changes what a key may do, and what signs its callbacks. */
function prepareChange({ callbackSecret, sealed }: Signing) {
  /** The stored form of a key's signing secret. */
  async function signedWith(session: Session, id: KeyId, signing: NonNullable<KeyChange["signing"]>) {
    const present = openedOf(await callbackSecret(session, id));
    return sealed(changeSigning(present, signing), id);
  }

  return async function change(
    session: Session,
    id: KeyId,
    { policy, expiresAt, signing }: KeyChange,
    act?: Act,
  ) {
    const before = await changeable(session, id);
    if (typeof before === "string") return before;
    const after = {
      policy: changePolicy(before.policy, policy),
      expiresAt: expiresAt === undefined ? (before.expiresAt ?? null) : expiresAt,
    };
    await CHANGE.run(session, id, JSON.stringify(after.policy), after.expiresAt);
    if (signing !== undefined)
      await SET_SECRET.run(session, id, signing && (await signedWith(session, id, signing)));
    // Periods of different lengths may start on the same day.
    if (before.policy.quota?.reset !== after.policy.quota?.reset)
      await quotas.forget(session, before.accountId, id);
    const changed: ApiKey = {
      ...before,
      ...after,
      expiresAt: after.expiresAt ?? undefined,
      signsCallbacks: signing === undefined ? before.signsCallbacks : signing !== null,
    };
    const note = keyChanged("key.update", [before, changed], act, signing ? REPLACED : {});
    await writeTrail(session, act, note);
    return changed;
  };
}
