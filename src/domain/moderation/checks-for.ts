import type { KeyPolicy } from "../access/key-policy.ts";
import { matchesPattern } from "../access/permissions.ts";
import type { ModelId } from "../ids.ts";
import type { Moderation } from "../ports/moderation.ts";

/**
 * Names of the checks that a request of a key for a model goes through: those the operator chose for the key, else for the
 * model, else for all. A key's choice may name checks that no longer exist.
 */
export function checksFor(
  { apply, models }: Pick<Moderation, "apply" | "models">,
  { moderation }: KeyPolicy,
  model: ModelId,
): readonly string[] {
  if (moderation !== undefined) return moderation;
  const [, names = apply] = models.find(([pattern]) => matchesPattern(pattern, model)) ?? [];
  return names;
}
