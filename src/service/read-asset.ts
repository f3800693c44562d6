import { AppError } from "../domain/errors.ts";
import { isId } from "../domain/ids.ts";
import type { Asset } from "../domain/media/asset.ts";
import type { AssetStore } from "../domain/ports/asset-store.ts";
import type { TaskStore } from "../domain/ports/task-store.ts";

/**
 * Reads a stored file. Whoever knows its id may read it.
 * @throws AppError `not_found`, for a malformed id, an unknown one and a removed file alike
 */
export async function readAsset(
  deps: { tasks: TaskStore; assets: AssetStore },
  id: string,
): Promise<{ asset: Asset; content: Blob }> {
  const asset = isId("asset", id) ? await deps.tasks.assetById(id) : undefined;
  const content = asset && (await deps.assets.open(asset));
  if (asset === undefined || content === undefined) throw new AppError("not_found", { kind: "file_unknown" });
  return { asset, content };
}
