import type { StoredFile } from "../../domain/media/asset.ts";
import type { PutOptions } from "../../domain/ports/asset-store.ts";
import type { Step } from "../step.ts";

/** Checks and stores a file of the task, and holds it. @throws like `AssetStore.stage` and `StagedFile.keep` */
export async function storeFile(
  { deps, held, task: { accountId: owner } }: Step,
  source: Uint8Array | AsyncIterable<Uint8Array>,
  options: PutOptions,
): Promise<StoredFile> {
  const staged = await deps.assets.stage(source, { ...options, owner });
  held.push(staged);
  await staged.keep();
  return staged.file;
}
