import type { Database } from "bun:sqlite";
import type { AccountId, FileId } from "../../domain/ids.ts";
import type { UploadBounds, UploadedFile } from "../../domain/media/uploaded-file.ts";
import type { UploadAdded, UploadPage, UploadStore } from "../../domain/ports/upload-store.ts";
import { ACCOUNT_ID, accountNumber } from "./account-store/account-table.ts";
import type { Connection } from "./connection.ts";
import { prepareIsNamed } from "./named-contents.ts";
import type { RawRow } from "./raw-row.ts";
import { SHA256, storedHash } from "./task-store/asset-table.ts";
import type { upload } from "./upload-table.ts";

/** A file as statements return it. */
export type UploadRow = Omit<RawRow<typeof upload>, "number" | "account_number" | "sha256"> & {
  readonly account_id: AccountId;
  readonly sha256: string;
};
/** The columns of `UploadRow`, as SQL. */
export const UPLOAD_COLUMNS = `id, ${ACCOUNT_ID} as account_id, name, ${SHA256}, size_bytes, type, width, height, duration_ms, created_at, expires_at`;

/** Uploaded files in SQLite. Each write is one operation of the connection's group commit. */
export function createUploadStore({ db, read, write }: Connection): UploadStore {
  const byId = db.prepare<UploadRow, [id: string]>(`select ${UPLOAD_COLUMNS} from upload where id = ?`);
  const [add, page, remove] = [prepareAdd(db), preparePage(db), prepareRemove(db)];
  const expired = db.prepare<{ id: FileId }, [now: number, limit: number]>(
    "select id from upload indexed by upload_expiry where expires_at <= ? order by expires_at limit ?",
  );
  const ofAccount = db.prepare<{ id: FileId }, [account: string, limit: number]>(
    `select id from upload indexed by upload_of_account where account_number = ${accountNumber("?")} limit ?`,
  );
  const ofContent = db.prepare<{ id: FileId }, [sha256: string]>(
    `select id from upload indexed by upload_of_content where sha256 = ${storedHash("?")} order by number limit 1000`,
  );
  const removeAll = (ids: readonly { readonly id: FileId }[]) => {
    const contents = new Set(ids.flatMap(({ id }) => remove(id) ?? []));
    return { files: ids.length, contents: [...contents] };
  };
  return {
    add: (...given) => write(() => add(...given)),
    byId: async (id) => read(() => toFile(byId.get(id))),
    ofContent: async (sha256) => read(() => ofContent.all(sha256).map(({ id }) => id)),
    page: async (query) => read(() => page(query)),
    remove: (id, owner) => write(() => (toFile(byId.get(id))?.accountId === owner ? remove(id) : undefined)),
    expire: (now, limit) => write(() => removeAll(expired.all(now, limit))),
    removeOf: (account, limit) => write(() => removeAll(ofAccount.all(account, limit))),
  };
}

/** The totals of an account that has uploaded nothing. */
export const NOTHING: UploadBounds = { files: 0, bytes: 0 };

function prepareAdd(db: Database) {
  const beginningSo = db.prepare<UploadRow, [from: string, to: string]>(
    `select ${UPLOAD_COLUMNS} from upload where id between ? and ? order by id limit 1`,
  );
  const total = db.prepare<UploadBounds, [account: string]>(
    `select files, bytes from upload_total where account_number = ${accountNumber("?")}`,
  );
  const insert = db.prepare<never, (string | number | null)[]>(
    `insert into upload (id, account_number, name, sha256, size_bytes, type, width, height, duration_ms, created_at, expires_at)
     values (?, ${accountNumber("?")}, ?, ${storedHash("?")}, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const count = db.prepare<never, [account: string, bytes: number]>(
    `insert into upload_total (account_number, files, bytes) values (${accountNumber("?")}, 1, ?)
     on conflict do update set files = files + 1, bytes = bytes + excluded.bytes`,
  );
  return (file: UploadedFile, most: UploadBounds, beginning?: string): UploadAdded => {
    const by = toFile(beginningSo.get(...idsOf(file, beginning)));
    if (by !== undefined) return { kind: "taken", by };
    const used = total.get(file.accountId) ?? NOTHING;
    if (used.files + 1 > most.files || used.bytes + file.sizeBytes > most.bytes)
      return { kind: "full", used };
    const { id, accountId, name = null, sha256, sizeBytes, type, durationMs = null } = file;
    const sizes = [file.width, file.height, durationMs];
    insert.run(id, accountId, name, sha256, sizeBytes, type, ...sizes, file.createdAt, file.expiresAt);
    count.run(accountId, sizeBytes);
    return { kind: "added" };
  };
}

/** After every character of an id. */
const BEHIND = "~";
/** After every id. */
export const LAST = `file_${BEHIND}` as FileId;

/** The first and the last of the ids that must not be in use for a file: its own, or all that begin so. */
export function idsOf({ id }: Pick<UploadedFile, "id">, beginning?: string): [from: string, to: string] {
  return beginning === undefined ? [id, id] : [beginning, beginning + BEHIND];
}

function preparePage(db: Database): (query: Parameters<UploadStore["page"]>[0]) => UploadPage {
  const select = (condition: string) =>
    `select ${UPLOAD_COLUMNS} from upload where ${condition} (created_at, id) < (?1, ?2)
     order by created_at desc, id desc limit ?3`;
  const all = db.prepare<UploadRow, [at: number, id: string, limit: number]>(select(""));
  const ofAccount = db.prepare<UploadRow, [at: number, id: string, limit: number, account: string]>(
    select(`account_number = ${accountNumber("?4")} and`),
  );
  return ({ account, limit, after = { createdAt: Number.MAX_SAFE_INTEGER, id: LAST } }) => {
    const bounds = [after.createdAt, after.id, limit + 1] as const;
    const rows = account === undefined ? all.all(...bounds) : ofAccount.all(...bounds, account);
    return pageOf(rows, limit);
  };
}

/** A page of rows, of which there is one more where there is another page. */
export function pageOf(rows: readonly UploadRow[], limit: number): UploadPage {
  const files = rows.slice(0, limit).map(fileOf);
  const last = files.at(-1);
  const hasMore = rows.length > limit && last !== undefined;
  return { files, next: hasMore ? { createdAt: last.createdAt, id: last.id } : undefined };
}

/** Returns a function that removes a file. It returns its content where nothing needs that any more; undefined without such a file. */
function prepareRemove(db: Database): (id: FileId) => readonly string[] | undefined {
  const remove = db.prepare<{ account: number; sha256: string; bytes: number }, [id: string]>(
    `delete from upload where id = ? returning account_number as account, ${SHA256}, size_bytes as bytes`,
  );
  const count = db.prepare<never, [bytes: number, account: number]>(
    "update upload_total set files = files - 1, bytes = bytes - ? where account_number = ?",
  );
  const forget = db.prepare<never, [account: number]>(
    "delete from upload_total where account_number = ? and files = 0",
  );
  const isNamed = prepareIsNamed(db);
  return (id) => {
    const removed = remove.get(id);
    if (removed === null) return undefined;
    const { account, sha256, bytes } = removed;
    count.run(bytes, account);
    forget.run(account);
    return isNamed(sha256) ? [] : [sha256];
  };
}

const toFile = (row: UploadRow | null): UploadedFile | undefined => (row === null ? undefined : fileOf(row));

export function fileOf(row: UploadRow): UploadedFile {
  return {
    id: row.id,
    accountId: row.account_id,
    name: row.name ?? undefined,
    sha256: row.sha256,
    sizeBytes: row.size_bytes,
    type: row.type,
    width: row.width,
    height: row.height,
    durationMs: row.duration_ms ?? undefined,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  };
}
