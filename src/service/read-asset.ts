import { type AtHand, whenAtHand } from "../domain/at-hand.ts";
import { AppError } from "../domain/errors.ts";
import { type AccountId, type AssetId, type FileId, isId } from "../domain/ids.ts";
import type { Asset, StoredFile } from "../domain/media/asset.ts";
import type { AssetStore, Delivery, Wanted } from "../domain/ports/asset-store.ts";
import type { Clock } from "../domain/ports/runtime.ts";
import type { TaskStore } from "../domain/ports/task-store.ts";
import type { UploadStore } from "../domain/ports/upload-store.ts";
import { findUpload } from "./uploaded-files.ts";

/**
 * Finds the record of a stored file. Anybody who knows its id may read it.
 * @throws AppError `not_found`, the same for a malformed and an unknown id
 */
export async function findAsset(
  { tasks }: { tasks: Pick<TaskStore, "assetById"> },
  id: string,
): Promise<Asset> {
  return requireFile(isId("asset", id) ? await tasks.assetById(id) : undefined);
}

/** A stored file that has an address of its own. */
export interface AddressedFile extends StoredFile {
  readonly id: AssetId | FileId;
  readonly accountId: AccountId;
  readonly createdAt: number;
  /** When the file will be removed, if that is known, in epoch milliseconds. */
  readonly expiresAt?: number | undefined;
}

/**
 * Finds a file by the id in its address: a task's file, or an uploaded one that has not expired.
 * @throws AppError `not_found`, like `findAsset`
 */
export function findAddressed(
  deps: {
    tasks: Pick<TaskStore, "assetById">;
    uploads: Pick<UploadStore, "byId">;
    clock: Pick<Clock, "now">;
  },
  id: string,
): AtHand<AddressedFile> {
  const found: AtHand<AddressedFile | undefined> = isId("asset", id)
    ? deps.tasks.assetById(id)
    : findUpload(deps, id);
  return whenAtHand(found, requireFile);
}

function requireFile<File extends StoredFile>(file: File | undefined): File {
  if (file === undefined) throw new AppError("not_found", { kind: "file_unknown" });
  return file;
}

/**
 * Opens the content of a stored file.
 * @throws AppError `not_found`, the same for a file that was removed or truncated and for one that never existed
 */
export async function openAsset(
  { assets }: { assets: Pick<AssetStore, "open"> },
  asset: StoredFile,
): Promise<Blob> {
  const content = await assets.open(asset);
  if (content === undefined) throw new AppError("not_found", { kind: "file_unknown" });
  return content;
}

/**
 * Decides how a reader gets a stored file.
 * @throws AppError `not_found`, like `openAsset`
 */
export function deliverAsset(
  { assets }: { assets: Pick<AssetStore, "deliver"> },
  asset: StoredFile,
  wanted: Wanted,
  options: NonNullable<Parameters<AssetStore["deliver"]>[2]>,
): AtHand<Delivery> {
  return whenAtHand(assets.deliver(asset, wanted, options), (delivery) => {
    if (delivery === undefined) throw new AppError("not_found", { kind: "file_unknown" });
    return delivery;
  });
}

/** Finds and opens a stored file. @throws AppError `not_found`, like both of them */
export async function readAsset(
  deps: { tasks: Pick<TaskStore, "assetById">; assets: Pick<AssetStore, "open"> },
  id: string,
): Promise<{ asset: Asset; content: Blob }> {
  const asset = await findAsset(deps, id);
  return { asset, content: await openAsset(deps, asset) };
}
