import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openAssetStore } from "../../src/assets/open.ts";
import type { AssetStoreUnderTest } from "../contracts/asset-store.ts";

/** An asset store in a folder of its own. */
export async function makeFsStore(): Promise<AssetStoreUnderTest & { readonly directory: string }> {
  const directory = await mkdtemp(join(tmpdir(), "svc-assets-"));
  let names = 0;
  return {
    directory,
    store: openAssetStore({ directory, newTemporaryName: () => `draft-${names++}` }),
    leftovers: async () => (await readdir(join(directory, "tmp")).catch(() => [])).length,
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}

/** Paths of all content files below the folder of a store, or of its copies of what lies elsewhere. */
export async function contentFiles(
  directory: string,
  place: "sha256" | "cache" = "sha256",
): Promise<string[]> {
  const entries = await readdir(join(directory, place), { recursive: true, withFileTypes: true }).catch(
    () => [],
  );
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}
