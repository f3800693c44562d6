import { keyStatus, type Principal } from "../domain/access/account.ts";
import { AppError, invalid } from "../domain/errors.ts";
import type { FileId } from "../domain/ids.ts";
import { MAX_INPUT_BYTES, MAX_UPLOADED_FILES } from "../domain/limits.ts";
import { MEDIA_KINDS } from "../domain/media/asset.ts";
import type { UploadedFile } from "../domain/media/uploaded-file.ts";
import type { AccountStore } from "../domain/ports/account-store.ts";
import { MediaError, type PutOptions, type StagedFile } from "../domain/ports/asset-store.ts";
import type { Clock, Ids } from "../domain/ports/runtime.ts";
import type { UploadStore } from "../domain/ports/upload-store.ts";

export interface UploadFileDeps {
  readonly uploads: Pick<UploadStore, "add" | "remove">;
  readonly clock: Pick<Clock, "now">;
  readonly ids: Ids;
  /** How long a file stays, in milliseconds. */
  readonly uploadKeptMs: () => number;
  /** Most bytes of uploaded files of an account at one time. */
  readonly uploadedBytes: () => number;
  /** Why the store currently cannot write. */
  readonly trouble: () => Error | undefined;
}

/** The owner of the file. It is kept no longer than the account's other files. */
export type FileOwner = Pick<Principal, "accountId"> & Partial<Pick<Principal, "retainSec">>;

/** Who asked for an address to upload to, and by which key. */
export type UploadOwner = FileOwner & Pick<Principal, "keyId">;

/**
 * Checks that files may still be stored for who asked for an address to upload to. The address itself needs no key.
 * @throws AppError `not_found` if the key is no longer accepted, or the account was suspended, as it is before a purge
 */
export async function requireActiveOwner(
  {
    accounts,
    clock,
  }: { readonly accounts: Pick<AccountStore, "account" | "key"> } & Pick<UploadFileDeps, "clock">,
  { accountId, keyId }: UploadOwner,
): Promise<void> {
  const [key, account] = await Promise.all([accounts.key(keyId), accounts.account(accountId)]);
  const isOpen = key !== undefined && keyStatus(key, clock.now()) === "active";
  if (!isOpen || account?.status !== "active") throw new AppError("not_found", { kind: "file_unknown" });
}

/** A file as it was received. */
export interface FileToUpload {
  readonly owner: FileOwner;
  /** The result of `stageUpload`. This function keeps and releases it, whatever happens. */
  readonly staged: StagedFile;
  readonly name?: string | undefined;
  /** An id that the owner knew before the file existed: `ids.create("file")`. A new one unless given. */
  readonly id?: FileId | undefined;
  /** The beginning of that id, which must be unique among the ids of files. */
  readonly beginning?: string | undefined;
  /** The name of the file's field in messages. */
  readonly field: string;
}

const OPTIONS: PutOptions = { accept: MEDIA_KINDS, maxBytes: MAX_INPUT_BYTES, sanitize: true };

/**
 * Reads a file that is uploaded before any task, within the limits of inputs, and removes its metadata. Its content decides its
 * type; the type that its sender claims does not count.
 *
 * @param field the name of the file's field in messages
 * @param stage `(options) => assets.stage(pieces, options)`, or `arriving.stage` of a file that came in several requests
 * @throws AppError `invalid_request` naming the field; whatever `stage` throws
 */
export async function stageUpload(
  field: string,
  { accountId: owner }: Pick<FileOwner, "accountId">,
  stage: (options: PutOptions) => Promise<StagedFile>,
): Promise<StagedFile> {
  try {
    return await stage({ ...OPTIONS, owner });
  } catch (error) {
    if (!(error instanceof MediaError)) throw error;
    throw invalid({ kind: "finding", field, finding: error.message }, error);
  }
}

/**
 * Records a file that was staged for its account. It is durable before the promise resolves. Its address is `assetPath(file)`
 * below the service's own: anybody who knows it can read the file. A create may give the address, or the id alone, in any field
 * that takes a file of its kind. A task that uses the file gets its own copy, so the file may be removed meanwhile.
 *
 * If the id already has the same content, the answer is the same as the first time, so a client can repeat a request whose
 * answer was lost.
 * @throws AppError `request_too_large` if the account has uploaded too much; `invalid_request` if the id has another content
 */
export async function uploadFile(deps: UploadFileDeps, given: FileToUpload): Promise<UploadedFile> {
  return (await storeUpload(deps, given)).file;
}

/** A recorded file, and whether it was recorded earlier. */
export interface StoredUpload {
  readonly file: UploadedFile;
  readonly replayed: boolean;
}

/** Like `uploadFile`, and says whether the file was recorded earlier. */
export async function storeUpload(deps: UploadFileDeps, given: FileToUpload): Promise<StoredUpload> {
  const { owner, staged, field, name, id = deps.ids.create("file"), beginning } = given;
  let isRecorded = false;
  try {
    const trouble = deps.trouble();
    if (trouble !== undefined) throw trouble;
    await staged.keep();
    const createdAt = deps.clock.now();
    const expiresAt = createdAt + keptMs(deps, owner);
    const file = { ...staged.file, id, accountId: owner.accountId, name, createdAt, expiresAt };
    const result = await record(deps, file, beginning);
    if (result.kind === "full") {
      const { used, most } = result;
      throw new AppError("request_too_large", { kind: "uploads_full", used, most });
    }
    if (result.kind === "taken" && !isSame(result.by, file)) throw invalid({ kind: "upload_taken", field });
    isRecorded = true;
    return result.kind === "taken" ? { file: result.by, replayed: true } : { file, replayed: false };
  } finally {
    await staged.release(isRecorded);
  }
}

async function record(deps: UploadFileDeps, file: UploadedFile, beginning: string | undefined) {
  const most = { files: MAX_UPLOADED_FILES, bytes: deps.uploadedBytes() };
  const result = await deps.uploads.add(file, most, beginning);
  const isOver =
    result.kind === "taken" &&
    result.by.accountId === file.accountId &&
    result.by.expiresAt <= file.createdAt;
  if (!isOver) return { ...result, most };
  // Nobody finds an expired file; its row waits to be removed. The collector removes content that it leaves behind.
  await deps.uploads.remove(result.by.id, file.accountId);
  return { ...(await deps.uploads.add(file, most, beginning)), most };
}

function keptMs({ uploadKeptMs }: UploadFileDeps, { retainSec }: FileOwner): number {
  return Math.min(uploadKeptMs(), retainSec === undefined ? Number.POSITIVE_INFINITY : retainSec * 1000);
}

const isSame = (a: UploadedFile, b: UploadedFile) => a.accountId === b.accountId && a.sha256 === b.sha256;
