import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AssetConfig } from "../config/assets.ts";
import type { Folder } from "./data-folder.ts";

/** Records in a data folder in which bucket its server looks for files. The record has no meaning after the server has ended. */
const PLACES = "bucket.json";

type Places = Folder & { readonly assets: Pick<AssetConfig, "bucket"> };

/** Records the bucket of a server that starts, or that it has none. */
export function notePlaces(config: Places): void {
  const path = join(config.dataDir, PLACES);
  const text = textOf(config);
  if (text === undefined) {
    rmSync(path, { force: true });
    return;
  }
  writeFileSync(`${path}.part`, text, { mode: 0o600 });
  renameSync(`${path}.part`, path);
}

/** Whether the server that runs on a data folder looks for files in the bucket of these settings. */
export function isKnownToServer(config: Places): boolean {
  try {
    return readFileSync(join(config.dataDir, PLACES), "utf8") === textOf(config);
  } catch {
    return false;
  }
}

function textOf({ assets: { bucket } }: Places): string | undefined {
  if (bucket === undefined) return undefined;
  const { endpoint, name, prefix } = bucket;
  return `${JSON.stringify({ endpoint, name, prefix })}\n`;
}
