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
 * first time, as long as it is there. The file's id follows from the key and the content, which is what makes it one file after any
 * crash, and its address that of one content for ever, also when the file was removed and another one is sent with the key. Only who
 * has the service's own key can tell an id.
 * @throws AppError `idempotency_conflict` for another content or name; `invalid_idempotency_key`; as `uploadFile`
 */
export async function uploadOnce(
  deps: UploadOnceDeps,
  { owner, ...given }: Omit<FileToUpload, "id"> & { readonly owner: Principal },
  key: string | undefined,
): Promise<StoredUpload> {
  if (key === undefined) return storeUpload(deps, { ...given, owner });
  const stored = await storeUpload(deps, { ...given, owner, ...idFor(deps, owner, given, key) }).catch(
    (error: unknown) => {
      throw error instanceof AppError && error.facts.kind === "upload_taken" ? conflict() : error;
    },
  );
  if (stored.file.name !== given.name) throw conflict();
  return stored;
}

/** Digits of an id's hash that follow from the key, and of an id itself that are made of no others. */
const KEY_DIGITS = 16;
const KEY_CHARACTERS = "file_".length + 12;

/** The id of a key's file, and its beginning, which no other file of the key has. */
function idFor(
  { seal, secrets }: Pick<UploadOnceDeps, "seal" | "secrets">,
  { keyId }: Pick<Principal, "keyId">,
  { staged }: Pick<FileToUpload, "staged">,
  key: string,
): Required<Pick<FileToUpload, "id" | "beginning">> {
  const digitsOf = (text: string) => secrets.hash(seal.sign(text)).slice(0, KEY_DIGITS);
  const ofContent = digitsOf(`upload ${keyId} ${staged.file.sha256} ${key}`);
  const id = idOfDigest("file", digitsOf(`upload ${keyId} ${key}`) + ofContent);
  return { id, beginning: id.slice(0, KEY_CHARACTERS) };
}

/** Refuses a key before anything is received. @throws AppError `invalid_idempotency_key` */
export function checkUploadKey(key: string | undefined): void {
  if (key !== undefined) checkIdempotencyKey(key);
}

function conflict(): AppError {
  return new AppError("idempotency_conflict", { kind: "idempotency_conflict" }, { shouldRetry: false });
}
