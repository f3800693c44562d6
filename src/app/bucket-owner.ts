import { hostname } from "node:os";
import type { Owner } from "../assets/s3/owner.ts";
import { folderIdOf, knownFolderId } from "../runtime/folder-id.ts";
import type { Folder } from "./data-folder.ts";

/** What to do if files of another data folder are below the prefix. */
export const ASSETS_TAKEN =
  "Two data folders there would remove each other's files. Give this one a prefix of its own (assets.prefix). Where it takes the other's place, as after a restore, stop the other for good and run svc assets claim.";

/** The name of a data folder, without changing anything: a folder that has no id yet gets none. */
export function lookerOf({ dataDir }: Folder): Owner {
  return { folder: knownFolderId(dataDir) ?? "none yet", host: hostname(), path: dataDir };
}

/** The name of a data folder in a bucket. */
export function ownerOf({ dataDir }: Folder): Owner {
  return { folder: folderIdOf(dataDir), host: hostname(), path: dataDir };
}
