import { AppError } from "../../../domain/errors.ts";
import { isId } from "../../../domain/ids.ts";
import type { Asset } from "../../../domain/media/asset.ts";
import type { UploadedFile } from "../../../domain/media/uploaded-file.ts";
import type { Clock } from "../../../domain/ports/runtime.ts";
import type { TaskStore } from "../../../domain/ports/task-store.ts";
import type { UploadStore } from "../../../domain/ports/upload-store.ts";
import { findUpload } from "../../../service/uploaded-files.ts";
import type { KeyedExchange } from "../../exchange.ts";

export interface OwnFileDeps {
  readonly tasks: Pick<TaskStore, "assetById">;
  readonly uploads: Pick<UploadStore, "byId">;
  readonly clock: Pick<Clock, "now">;
}

/** A file of the caller's: of one of its tasks, or uploaded before any. */
export type OwnFile = Asset | UploadedFile;

/** The name of a file in that API: its id without what tells its kind, since clients take letters and digits alone. */
export const fileNameOf = (id: OwnFile["id"]) => id.replace(/^[a-z]+_/, "");

/** The caller's own file of this name. */
export async function findOwnFile(
  deps: OwnFileDeps,
  { accountId }: Pick<KeyedExchange["principal"], "accountId">,
  name: string,
): Promise<OwnFile | undefined> {
  const asset = `asset_${name}`;
  const file =
    (await findUpload(deps, `file_${name}`)) ??
    (isId("asset", asset) ? await deps.tasks.assetById(asset) : undefined);
  return file?.accountId === accountId ? file : undefined;
}

/** @throws AppError `not_found` */
export async function requireOwnFile(
  deps: OwnFileDeps,
  principal: KeyedExchange["principal"],
  name: string,
): Promise<OwnFile> {
  const file = await findOwnFile(deps, principal, name);
  if (file === undefined) throw new AppError("not_found", { kind: "file_unknown" });
  return file;
}
