import type { Config } from "../config/config.ts";
import type { Catalog } from "../domain/ports/catalog.ts";
import { suggest } from "../domain/suggest.ts";

/** Finds aliases of the settings that stand for no model, a sentence each. A request for one is refused; the model may still come. */
export function aliasWarnings({ aliases }: Pick<Config, "aliases">, catalog: Pick<Catalog, "all">): string[] {
  const ids = catalog.all().map(({ id }) => id);
  return Object.entries(aliases)
    .filter(([, model]) => !ids.includes(model))
    .map(([name, model]) => {
      const nearest = suggest(model, ids);
      const meant = nearest === undefined ? "" : ` Did you mean ${nearest}?`;
      return `aliases: ${name} stands for ${model}, which is no model.${meant}`;
    });
}
