import type { CallbackId } from "../../../domain/ids.ts";
import type { ManagedCallbackFilter } from "../../../domain/ports/callback-store.ts";
import { LOOKED_AT } from "../../sqlite/callback-store/lists.ts";
import { statement } from "../session.ts";
import { COLUMNS, type NamedRow } from "./named-row.ts";

type Owner = [account: string | null, state: string | null];
type Bounds = [from: number, fromId: string, to: number, toId: string];

/** Each pair of statements scans an index in the order of the list. */
function stated(where: string, more = "") {
  const from = `from callback where ${where}
    and (created_at, id) >= ($3::bigint, $4::text) and (created_at, id) < ($5::bigint, $6::text)`;
  const newestFirst = "order by created_at desc, id desc limit";
  return {
    /** The last callback that a page considers; none if it can consider all that are left. */
    floor: statement<{ id: CallbackId; created_at: number }, [...Owner, ...Bounds]>(
      `select id, created_at ${from} ${newestFirst} 1 offset ${LOOKED_AT - 1}`,
    ),
    list: statement<NamedRow, [...Owner, ...Bounds, key: string | null, limit: number]>(
      `select ${COLUMNS} ${from} and ($7::text is null or key_id = $7) ${more} ${newestFirst} $8`,
    ),
  };
}

const OF_ACCOUNT = stated("account_id = $1 and $2::text is null");
const OF_STATE = stated("account_id = $1 and state = $2");
const FAILED = stated("state = 'failed' and $1::text is null and $2::text is not null");
// Every parameter of a statement has to be in it.
const ALL = stated(
  "$1::text is null and coalesce($2::text, '') is not null",
  "and ($2 is null or state = $2)",
);

/** Chooses the statements of a filter. */
export function listsOf({
  accountId,
  keyId,
  state,
}: Pick<ManagedCallbackFilter, "accountId" | "keyId" | "state">) {
  const ofAccount = state === undefined ? OF_ACCOUNT : OF_STATE;
  const ofAll = state === "failed" ? FAILED : ALL;
  const { floor, list } = accountId === undefined ? ofAll : ofAccount;
  // If the filter matches every callback of the index, a page is full after as many as it holds.
  const isAnyMeant = keyId === undefined && (list !== ALL.list || state === undefined);
  return { list, floor: isAnyMeant ? undefined : floor };
}
