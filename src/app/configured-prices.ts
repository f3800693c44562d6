import type { Config } from "../config/config.ts";
import { ConfigError } from "../config/problem.ts";
import type { PriceCatalog } from "../domain/ports/catalog.ts";
import { type ConfiguredPrices, readConfiguredPrices } from "../service/configured-prices.ts";

export type Pricing = Partial<Pick<Config, "pricing" | "configFile" | "placed">>;

/** Reads the prices of the settings file. @throws ConfigError with every problem they have */
export function configuredPricesOf(
  { pricing = {}, configFile, placed = (problem) => problem }: Pricing,
  catalog: PriceCatalog,
): ConfiguredPrices {
  const read = readConfiguredPrices(catalog, pricing);
  if (read.problems.length === 0) return read;
  throw new ConfigError(
    read.problems.map(({ path, message, suggestion }) =>
      placed({ where: `${configFile}: pricing.${path}`, message, suggestion }),
    ),
  );
}
