import { type Config, ConfigError } from "../config/config.ts";
import type { PriceCatalog } from "../domain/ports/catalog.ts";
import { type ConfiguredPrices, readConfiguredPrices } from "../service/configured-prices.ts";

export type Pricing = Partial<Pick<Config, "pricing" | "configFile">>;

/** Reads the prices of the settings file. @throws ConfigError with every problem they have */
export function configuredPricesOf(
  { pricing = {}, configFile }: Pricing,
  catalog: PriceCatalog,
): ConfiguredPrices {
  const read = readConfiguredPrices(catalog, pricing);
  if (read.problems.length === 0) return read;
  throw new ConfigError(
    read.problems.map(({ path, message, suggestion }) => ({
      where: `${configFile}: pricing.${path}`,
      message,
      suggestion,
    })),
  );
}
