import { join } from "node:path";
import type { Config } from "../config/config.ts";

export type Folder = Pick<Config, "dataDir">;

/** The path of the database in a data folder. */
export const databaseOf = ({ dataDir }: Folder): string => join(dataDir, "svc.db");
/** The path of the stored files in a data folder. */
export const assetsOf = ({ dataDir }: Folder): string => join(dataDir, "assets");
