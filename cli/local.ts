import { relative } from "node:path";
import type { Command } from "commander";
import type { Local } from "../src/app/local.ts";
import { readConfig } from "../src/app/settings.ts";
import type { Config } from "../src/config/config.ts";
import { createSettings } from "../src/config/settings.ts";
import type { Context } from "./context.ts";

/** The data folder a command works on. */
export interface LocalFlags {
  readonly dataDir?: string;
  readonly config?: string;
}

export type Manage = Local["manage"];

export function withLocalFlags(command: Command): Command {
  const { dataDir } = createSettings({ cores: 1 }, []);
  return command
    .option(dataDir.flag, `data folder (default ${dataDir.fallback}; ${dataDir.env})`)
    .option("--config <file>", "settings file that says where the data folder is (SVC_CONFIG)");
}

export function readLocalConfig(flags: LocalFlags, { env, cwd }: Context): Config {
  return readConfig({ flags: { dataDir: flags.dataDir }, env, file: flags.config, cwd });
}

/** Opens the data folder while `use` runs. A server may be running on it. */
export async function withLocal<T>(
  flags: LocalFlags,
  context: Context,
  use: (manage: Manage, folder: string) => Promise<T>,
): Promise<T> {
  const config = readLocalConfig(flags, context);
  // Loaded late: it imports the whole service.
  const { openLocal } = await import("../src/app/local.ts");
  const local = await openLocal(config);
  try {
    return await use(local.manage, showPath(config.dataDir, context.cwd));
  } finally {
    await local.stop();
  }
}

/** Shows a path below the current folder as `./…`, any other in full. */
export function showPath(path: string, cwd: string): string {
  const short = relative(cwd, path);
  return short === "" || short.startsWith("..") ? path : `./${short}`;
}
