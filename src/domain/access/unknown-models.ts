import { suggest } from "../suggest.ts";
import { matchesPattern } from "./permissions.ts";

/** What names models: patterns that they must fit, and other names for them. */
export interface NamingModels {
  readonly models?: readonly string[] | null | undefined;
  readonly aliases?: Readonly<Record<string, string>> | null | undefined;
}

/**
 * Finds names of models that no model has, a sentence each. They are no mistake in themselves: the model may still come.
 *
 * @param ids of all models
 */
export function unknownModels({ models, aliases }: NamingModels, ids: readonly string[]): string[] {
  const meant = (name: string) => {
    const nearest = suggest(name, ids);
    return nearest === undefined ? "" : ` Did you mean ${nearest}?`;
  };
  const unfitting = (models ?? []).filter((pattern) => !ids.some((id) => matchesPattern(pattern, id)));
  return [
    ...unfitting.map((pattern) =>
      pattern.includes("*")
        ? `models: the id of no model fits ${pattern}.`
        : `models: ${pattern} is no model.${meant(pattern)}`,
    ),
    ...Object.entries(aliases ?? {})
      .filter(([, model]) => !ids.includes(model))
      .map(([name, model]) => `aliases: ${name} stands for ${model}, which is no model.${meant(model)}`),
  ];
}
