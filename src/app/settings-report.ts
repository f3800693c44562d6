import { availableParallelism } from "node:os";
import { createCatalog } from "../catalog/catalog.ts";
import { priceSchema } from "../catalog/schema-check.ts";
import type { Config } from "../config/config.ts";
import { fileSchema } from "../config/file-schema.ts";
import { ConfigError, type ConfigProblem } from "../config/problem.ts";
import { createSettings } from "../config/settings.ts";
import type { JsonObject } from "../domain/json.ts";
import { sentence } from "../domain/words/say.ts";
import { createEgress } from "../egress/egress.ts";
import { PROVIDERS } from "../providers/registry.ts";
import { createSystemClock } from "../runtime/clock.ts";
import { aliasWarnings } from "./alias-warnings.ts";
import { configuredPricesOf } from "./configured-prices.ts";
import { openModeration } from "./moderation.ts";
import { readOwnModels } from "./own-models.ts";
import { readOwnProviders } from "./own-providers.ts";
import { readConfig } from "./settings.ts";

/** The JSON Schema of svc.yaml. */
export function settingsSchema(): JsonObject {
  return fileSchema(createSettings({ cores: availableParallelism() }, PROVIDERS), priceSchema());
}

/** The problems of settings. */
export interface SettingsReport {
  /** The settings file that was read, if there is one. */
  readonly file?: string | undefined;
  /** Each of these keeps a server from starting. */
  readonly problems: readonly ConfigProblem[];
  /** Settings that work but that an operator should check. */
  readonly warnings: readonly string[];
  /** What a server would say of keys at its start: which are used, and variables that look like one and are not read. */
  readonly notes: readonly string[];
}

/** Reads settings as a server would at its start, with their prices and checks, and reports everything that is wrong. Changes nothing. */
export async function reportSettings(sources: Parameters<typeof readConfig>[0]): Promise<SettingsReport> {
  const [read, problems] = await reading(() => readConfig({ ...sources, isServing: false }));
  if (read === undefined) return { problems, warnings: [], notes: [] };
  const warnings: string[] = [...read.warnings];
  const [, ofServer] = await reading(() => readConfig({ ...sources, isServing: true }));
  const [, ofPrices] = await reading(async () => {
    const catalog = await catalogOf(read);
    warnings.push(...aliasWarnings(read, catalog), ...configuredPricesOf(read, catalog).warnings);
  });
  const [, ofChecks] = await reading(async () => {
    const egress = createEgress({ allow: read.egress.allow });
    // Each start measures and logs what checks cost.
    const log = {
      warn: (fields: object, message: string) => void ("us" in fields || warnings.push(message)),
    };
    await openModeration(read, { clock: createSystemClock(), egress, log });
  });
  return {
    ...{ file: read.configFile, warnings, notes: read.notes.map(sentence) },
    problems: [...ofServer, ...ofPrices, ...ofChecks],
  };
}

/** The models of a data folder, built-in ones included. */
async function catalogOf(config: Config) {
  const { providers: own } = await readOwnProviders(config);
  const ids = [...PROVIDERS.map(({ id }) => id), ...own.map(({ definition }) => definition.id)];
  return createCatalog({ models: readOwnModels(config, ids).models, providers: ids });
}

/** @returns what was read, or the problems that kept it from being read */
async function reading<T>(
  read: () => T | Promise<T>,
): Promise<readonly [T, readonly []] | readonly [undefined, readonly ConfigProblem[]]> {
  try {
    return [await read(), []];
  } catch (error) {
    if (error instanceof ConfigError) return [undefined, error.problems];
    throw error;
  }
}
