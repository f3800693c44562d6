import type { Config } from "../config/config.ts";
import { unknownModels } from "../domain/access/unknown-models.ts";
import type { Catalog } from "../domain/ports/catalog.ts";

/** Finds aliases of the settings that stand for no model, a sentence each. A request for one is refused; the model may still come. */
export function aliasWarnings({ aliases }: Pick<Config, "aliases">, catalog: Pick<Catalog, "all">): string[] {
  return unknownModels(
    { aliases },
    catalog.all().map(({ id }) => id),
  );
}
