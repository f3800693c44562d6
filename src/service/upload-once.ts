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
 * Records a file like `uploadFile`, once for each idempotency key of its sender. If the same file is sent again with the same
 * key, the answer is the same as the first time, as long as the file exists. The file's id follows from the key and the
 * content. So a crash never makes two files, and an address stands for one content for ever, even if the file was removed and
 * another one is sent with the key. Nobody can compute an id without the service's own key.
 * @throws AppError `idempotency_conflict` for another content or name; `invalid_idempotency_key`; and like `uploadFile`
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

/** How many hexadecimal digits of an id's hash follow from the key, and how many characters of the id depend only on them. */
const KEY_DIGITS = 16;
const KEY_CHARACTERS = "file_".length + 12;

/** The id of a key's file, and its beginning, which no other file of this key may have. */
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
