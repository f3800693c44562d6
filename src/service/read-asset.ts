import { AppError } from "../domain/errors.ts";
import { isId } from "../domain/ids.ts";
import type { Asset } from "../domain/media/asset.ts";
import type { AssetStore, Delivery, Wanted } from "../domain/ports/asset-store.ts";
import type { TaskStore } from "../domain/ports/task-store.ts";

/**
 * Finds what is recorded of a stored file. Whoever knows its id may read it.
 * @throws AppError `not_found`, for a malformed id and an unknown one alike
 */
export async function findAsset(
  { tasks }: { tasks: Pick<TaskStore, "assetById"> },
  id: string,
): Promise<Asset> {
  const asset = isId("asset", id) ? await tasks.assetById(id) : undefined;
  if (asset === undefined) throw new AppError("not_found", { kind: "file_unknown" });
  return asset;
}

/**
 * Opens the content of a stored file.
 * @throws AppError `not_found`, for a file that was removed or cut short as for one that never was
 */
export async function openAsset(
  { assets }: { assets: Pick<AssetStore, "open"> },
  asset: Asset,
): Promise<Blob> {
  const content = await assets.open(asset);
  if (content === undefined) throw new AppError("not_found", { kind: "file_unknown" });
  return content;
}

/**
 * Decides how a reader gets a stored file.
 * @throws AppError `not_found`, as `openAsset` does
 */
export async function deliverAsset(
  { assets }: { assets: Pick<AssetStore, "deliver"> },
  asset: Asset,
  wanted: Wanted,
  options: { readonly isLazy: boolean },
): Promise<Delivery> {
  const delivery = await assets.deliver(asset, wanted, options);
  if (delivery === undefined) throw new AppError("not_found", { kind: "file_unknown" });
  return delivery;
}

/** Finds and opens a stored file. @throws AppError `not_found`, as both of them do */
export async function readAsset(
  deps: { tasks: Pick<TaskStore, "assetById">; assets: Pick<AssetStore, "open"> },
  id: string,
): Promise<{ asset: Asset; content: Blob }> {
  const asset = await findAsset(deps, id);
  return { asset, content: await openAsset(deps, asset) };
}
