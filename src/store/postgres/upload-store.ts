import type { AccountId, FileId } from "../../domain/ids.ts";
import type { UploadBounds, UploadedFile } from "../../domain/media/uploaded-file.ts";
import type { UploadAdded, UploadPage, UploadStore } from "../../domain/ports/upload-store.ts";
import { ACCOUNT_ID, accountNumber } from "../sqlite/account-store/account-table.ts";
import { SHA256, storedHash } from "../sqlite/task-store/asset-table.ts";
import {
  fileOf,
  idsOf,
  LAST,
  NOTHING,
  pageOf,
  UPLOAD_COLUMNS,
  type UploadRow,
} from "../sqlite/upload-store.ts";
import type { Connection } from "./connection.ts";
import { unneededContents } from "./named-contents.ts";
import { type Parameter, type Session, statement } from "./session.ts";

const BY_ID = statement<UploadRow, [id: string]>(`select ${UPLOAD_COLUMNS} from upload where id = $1`);
const BEGINNING_SO = statement<UploadRow, [from: string, to: string]>(
  `select ${UPLOAD_COLUMNS} from upload where id between $1 and $2 order by id limit 1`,
);
const EXPIRED = statement<{ id: FileId; account: AccountId }, [now: number, limit: number]>(
  `select id, ${ACCOUNT_ID} as account from upload where expires_at <= $1 order by expires_at limit $2`,
);
const OF_ACCOUNT = statement<{ id: FileId }, [account: string, limit: number]>(
  `select id from upload where account_number = ${accountNumber("$1")} limit $2`,
);
const OF_CONTENT = statement<{ id: FileId }, [sha256: string]>(
  `select id from upload where sha256 = ${storedHash("$1")} order by number limit 1000`,
);
const TOTAL = statement<UploadBounds, [account: string]>(
  `select files, bytes from upload_total where account_number = ${accountNumber("$1")}`,
);
const INSERT = statement<never, Parameter[]>(
  `insert into upload (id, account_number, name, sha256, size_bytes, type, width, height, duration_ms, created_at, expires_at)
   values ($1, ${accountNumber("$2")}, $3, ${storedHash("$4")}, $5, $6, $7, $8, $9, $10, $11) on conflict (id) do nothing`,
);
const COUNT = statement<never, [account: string, bytes: number]>(
  `insert into upload_total (account_number, files, bytes) values (${accountNumber("$1")}, 1, $2)
   on conflict (account_number) do update set files = upload_total.files + 1, bytes = upload_total.bytes + excluded.bytes`,
);
const PAGE = statement<UploadRow, [at: number, id: string, limit: number]>(select(""));
const PAGE_OF_ACCOUNT = statement<UploadRow, [at: number, id: string, limit: number, account: string]>(
  select(`account_number = ${accountNumber("$4")} and`),
);
const REMOVE = statement<{ sha256: string; bytes: number }, [ids: readonly string[], account: string]>(
  `delete from upload where id = any($1) and account_number = ${accountNumber("$2")} returning ${SHA256}, size_bytes as bytes`,
);
const UNCOUNT = statement<never, [files: number, bytes: number, account: string]>(
  "update upload_total set files = files - $1, bytes = bytes - $2 where account_number = " +
    accountNumber("$3"),
);
const FORGET = statement<never, [account: string]>(
  `delete from upload_total where account_number = ${accountNumber("$1")} and files = 0`,
);

function select(condition: string): string {
  return `select ${UPLOAD_COLUMNS} from upload where ${condition} (created_at, id) < ($1::bigint, $2::text)
    order by created_at desc, id desc limit $3`;
}

/** Uploaded files in PostgreSQL. Each write holds the row of the files' account, so that its total is what its files add up to. */
export function createUploadStore({ read, writeFor }: Connection): UploadStore {
  const removeIn = (account: AccountId, ids: readonly FileId[]) =>
    writeFor(account, (session) => removeAll(session, account, ids));

  /** One account after the other, each in a transaction of its own. */
  async function expire(now: number, limit: number) {
    const expired = await read((session) => EXPIRED.all(session, now, limit));
    const byAccount = Map.groupBy(expired, ({ account }) => account);
    let [files, contents] = [0, new Set<string>()];
    for (const [account, ofIt] of byAccount) {
      const removed = await removeIn(
        account,
        ofIt.map(({ id }) => id),
      );
      files += removed.files;
      contents = contents.union(new Set(removed.contents));
    }
    return { files, contents: [...contents] };
  }

  async function removeOf(account: AccountId, limit: number) {
    const rows = await read((session) => OF_ACCOUNT.all(session, account, limit));
    return removeIn(
      account,
      rows.map(({ id }) => id),
    );
  }

  return {
    add: (file, ...given) => writeFor(file.accountId, (session) => add(session, file, ...given)),
    byId: (id) => read((session) => findFile(session, id)),
    ofContent: (sha256) =>
      read(async (session) => (await OF_CONTENT.all(session, sha256)).map(({ id }) => id)),
    page: (query) => read((session) => page(session, query)),
    async remove(id, owner) {
      const { files, contents } = await removeIn(owner, [id]);
      return files === 0 ? undefined : contents;
    },
    expire,
    removeOf,
  };
}

async function findFile(session: Session, id: FileId): Promise<UploadedFile | undefined> {
  const row = await BY_ID.get(session, id);
  return row && fileOf(row);
}

async function add(
  session: Session,
  file: UploadedFile,
  most: UploadBounds,
  beginning?: string,
): Promise<UploadAdded> {
  const { id, accountId, name = null, sha256, sizeBytes, type, durationMs = null } = file;
  const there = await BEGINNING_SO.get(session, ...idsOf(file, beginning));
  if (there !== undefined) return { kind: "taken", by: fileOf(there) };
  const used = (await TOTAL.get(session, accountId)) ?? NOTHING;
  if (used.files + 1 > most.files || used.bytes + sizeBytes > most.bytes) return { kind: "full", used };
  const sizes = [file.width, file.height, durationMs];
  const row = [id, accountId, name, sha256, sizeBytes, type, ...sizes, file.createdAt, file.expiresAt];
  if ((await INSERT.run(session, ...row)) === 0) {
    // Another account took the id since it was looked for.
    const by = await findFile(session, id);
    if (by !== undefined) return { kind: "taken", by };
    throw new Error(`The file ${id} was neither stored nor there.`);
  }
  await COUNT.run(session, accountId, sizeBytes);
  return { kind: "added" };
}

async function page(
  session: Session,
  {
    account,
    limit,
    after = { createdAt: Number.MAX_SAFE_INTEGER, id: LAST },
  }: Parameters<UploadStore["page"]>[0],
): Promise<UploadPage> {
  // One more than asked for shows whether there is another page.
  const bounds = [after.createdAt, after.id, limit + 1] as const;
  const rows =
    account === undefined
      ? await PAGE.all(session, ...bounds)
      : await PAGE_OF_ACCOUNT.all(session, ...bounds, account);
  return pageOf(rows, limit);
}

/** Removes those of some files that the account has. @returns how many, and the contents that nothing needs any more */
async function removeAll(session: Session, account: AccountId, ids: readonly FileId[]) {
  const removed = ids.length === 0 ? [] : await REMOVE.all(session, ids, account);
  if (removed.length === 0) return { files: 0, contents: [] };
  const bytes = removed.reduce((sum, file) => sum + file.bytes, 0);
  await UNCOUNT.run(session, removed.length, bytes, account);
  await FORGET.run(session, account);
  const contents = await unneededContents(
    session,
    removed.map(({ sha256 }) => sha256),
  );
  return { files: removed.length, contents };
}
