import { readdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { type Config, type ConfigSources, loadConfig } from "../config/config.ts";
import { createSettings } from "../config/settings.ts";
import type { LaneId } from "../domain/ids.ts";
import { FORM_BYTES } from "../providers/declared/form.ts";
import { PROVIDERS } from "../providers/registry.ts";
import { readOwnFiles } from "../toolkit/own-files.ts";
import { listSettings, type Setting } from "../toolkit/settings/setting.ts";

/** Reads the configuration, with the settings of every provider. @throws ConfigError with every problem */
export function readConfig(sources: Omit<ConfigSources, "providers" | "sealedLanes">): Config {
  return loadConfig({
    ...sources,
    providers: PROVIDERS,
    sealedLanes: keptLanes,
    ownProviders: ownProviderIds,
  });
}

/** Every setting of the service and its providers, in the order the help lists them. */
export function serviceSettings(): Setting<unknown>[] {
  return listSettings(createSettings({ cores: availableParallelism() }, PROVIDERS));
}

/** The folder of a data folder in which an operator describes providers. */
export const OWN_PROVIDERS = "providers";

/** The ids of the providers that a data folder describes, as far as a single look shows them. */
export function ownProviderIds(dataDir: string): string[] {
  const files = readOwnFiles(join(dataDir, OWN_PROVIDERS), { maxBytes: FORM_BYTES });
  return files.flatMap((file) => ("text" in file ? (PROVIDER_LINE.exec(file.text)?.[1] ?? []) : []));
}

const PROVIDER_LINE = /^provider:\s*["']?([a-z][a-z0-9-]*)/m;

/** The file of a data folder that says which of those descriptions were checked. If it is lost, they are checked again. */
export const CHECKED_FORMS = "checked-forms.json";

/** The file of a data folder that says which alerts were sent. If it is lost, lasting conditions are reported again. */
export const ALERT_MEMORY = "alerts.json";

/** The folder of a data folder that keeps keys of providers' accounts, sealed, each account's in a file of its own. */
export const KEPT_KEYS = "provider-keys";

/** `bfl.json` or `bfl.second.json`: neither a provider nor an account has a dot in its name. */
const KEPT_KEY = /^([a-z][a-z0-9-]*)(?:\.([a-z0-9][a-z0-9_-]*))?\.json$/;

/** Where the key of an account is kept. */
export function keptKeyOf(dataDir: string, lane: LaneId) {
  return { path: join(dataDir, KEPT_KEYS, `${lane.replace("/", ".")}.json`), lane };
}

/** The lanes whose keys are kept in a data folder. Nothing is opened. */
function keptLanes(dataDir: string): string[] {
  return namesIn(join(dataDir, KEPT_KEYS)).flatMap((file) => {
    const [, provider, account] = KEPT_KEY.exec(file) ?? [];
    if (provider === undefined) return [];
    return [account === undefined ? provider : `${provider}/${account}`];
  });
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    // There is none, or it belongs to another user; then opening a key reports it.
    return [];
  }
}
