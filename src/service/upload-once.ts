import type { Principal } from "../domain/access/account.ts";
import { AppError } from "../domain/errors.ts";
import { idOfDigest } from "../domain/ids.ts";
import type { Seal, Secrets } from "../domain/ports/runtime.ts";
import { checkIdempotencyKey } from "./idempotency-key.ts";
import { type FileToUpload, type StoredUpload, storeUpload, type UploadFileDeps } from "./upload-file.ts";

export interface UploadOnceDeps extends UploadFileDeps {
  readonly secrets: Pick<Secrets, "hash">;
  readonly seal: Pick<Seal, "sign">;
}

/**
 * Records a file as `uploadFile` does, once for each key of its sender: the same file sent again with the same key is answered as the
 * first time, as long as it is there. The file's id follows from the key, which is what makes it one file after any crash; only who has
 * the service's own key can tell it.
 * @throws AppError `idempotency_conflict` for another content or name; `invalid_idempotency_key`; as `uploadFile`
 */
export async function uploadOnce(
  deps: UploadOnceDeps,
  { owner, ...given }: Omit<FileToUpload, "id"> & { readonly owner: Principal },
  key: string | undefined,
): Promise<StoredUpload> {
  if (key === undefined) return storeUpload(deps, { ...given, owner });
  const signed = deps.seal.sign(`upload ${owner.keyId} ${key}`);
  const id = idOfDigest("file", deps.secrets.hash(signed));
  const stored = await storeUpload(deps, { ...given, owner, id }).catch((error: unknown) => {
    throw error instanceof AppError && error.facts.kind === "upload_taken" ? conflict() : error;
  });
  if (stored.file.name !== given.name) throw conflict();
  return stored;
}

/** Refuses a key before anything is received. @throws AppError `invalid_idempotency_key` */
export function checkUploadKey(key: string | undefined): void {
  if (key !== undefined) checkIdempotencyKey(key);
}

function conflict(): AppError {
  return new AppError("idempotency_conflict", { kind: "idempotency_conflict" }, { shouldRetry: false });
}
