import { availableParallelism } from "node:os";
import { type Config, type ConfigSources, loadConfig } from "../config/config.ts";
import { createSettings } from "../config/settings.ts";
import { PROVIDERS } from "../providers/registry.ts";
import { listSettings, type Setting } from "../toolkit/settings/setting.ts";

/** Reads the configuration, with the settings of every provider. @throws ConfigError with every problem */
export function readConfig(sources: Omit<ConfigSources, "providers">): Config {
  return loadConfig({ ...sources, providers: PROVIDERS });
}

/** Every setting of the service and its providers, in the order the help lists them. */
export function serviceSettings(): Setting<unknown>[] {
  return listSettings(createSettings({ cores: availableParallelism() }, PROVIDERS));
}
