import type { Config } from "../config/config.ts";
import { PROVIDERS } from "../providers/registry.ts";
import { ownProviderIds } from "./settings.ts";

/** The providers there are, for shells that complete their names. */
export function providerNames({ dataDir }: Pick<Config, "dataDir">) {
  const builtIn = PROVIDERS.map(({ id, title }) => ({ name: String(id), about: title }));
  const own = ownProviderIds(dataDir).filter((id) => !builtIn.some(({ name }) => name === id));
  return [...builtIn, ...own.map((name) => ({ name, about: "described in the data folder" }))];
}
