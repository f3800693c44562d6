import type { Principal } from "../domain/access/account.ts";
import { AppError, mustBe } from "../domain/errors.ts";
import { type FileId, isId } from "../domain/ids.ts";
import type { UploadedFile } from "../domain/media/uploaded-file.ts";
import type { Clock } from "../domain/ports/runtime.ts";
import type { UploadPlace, UploadStore } from "../domain/ports/upload-store.ts";
import { type RemoveTaskDeps, removeContents } from "./remove-task.ts";

interface Deps {
  readonly uploads: Pick<UploadStore, "byId" | "page" | "remove">;
  readonly clock: Pick<Clock, "now">;
}

/**
 * An uploaded file that has not expired. Anybody who knows its id may read it.
 * @returns undefined for a malformed or an unknown id
 */
export async function findUpload(
  { uploads, clock }: { readonly uploads: Pick<UploadStore, "byId">; readonly clock: Pick<Clock, "now"> },
  id: string,
): Promise<UploadedFile | undefined> {
  const file = isId("file", id) ? await uploads.byId(id) : undefined;
  return file !== undefined && file.expiresAt > clock.now() ? file : undefined;
}

/** An uploaded file of the caller's account. @throws AppError `not_found` */
export async function readUpload(
  deps: Deps,
  { accountId }: Pick<Principal, "accountId">,
  id: string,
): Promise<UploadedFile> {
  const file = await findUpload(deps, id);
  if (file?.accountId !== accountId) throw new AppError("not_found", { kind: "file_unknown" });
  return file;
}

/**
 * One page of the files that an account has uploaded, newest first.
 * @param query.after `next` of the previous page
 * @throws AppError `invalid_request` for an `after` that no page returned
 */
export async function listUploads(
  { uploads, clock }: Deps,
  { accountId }: Pick<Principal, "accountId">,
  { limit, after }: { readonly limit: number; readonly after?: string | undefined },
): Promise<{ files: readonly UploadedFile[]; next: string | null }> {
  const place = after === undefined ? undefined : placeOf(after);
  const page = await uploads.page({ account: accountId, limit, after: place });
  const now = clock.now();
  const next = page.next === undefined ? null : `${page.next.createdAt}-${page.next.id}`;
  return { files: page.files.filter(({ expiresAt }) => expiresAt > now), next };
}

function placeOf(after: string): UploadPlace {
  const [, createdAt, id = ""] = /^(\d{1,15})-(.+)$/.exec(after) ?? [];
  if (createdAt === undefined || !isId("file", id)) throw mustBe("after", { form: "cursor" }, after);
  return { createdAt: Number(createdAt), id };
}

/**
 * Removes an uploaded file of the caller's account. Tasks that used it keep their copies.
 * @returns its id @throws AppError `not_found`
 */
export async function removeUpload(
  deps: Deps & RemoveTaskDeps,
  owner: Pick<Principal, "accountId">,
  id: string,
): Promise<FileId> {
  const file = await readUpload(deps, owner, id);
  const contents = await deps.uploads.remove(file.id, owner.accountId);
  if (contents === undefined) throw new AppError("not_found", { kind: "file_unknown" });
  await removeContents(deps, contents);
  return file.id;
}
