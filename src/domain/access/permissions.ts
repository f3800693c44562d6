import type { Feature, KeyPolicy } from "./key-policy.ts";

export function allowsFeature(policy: KeyPolicy, feature: Feature): boolean {
  return policy.features === undefined || policy.features.includes(feature);
}

/** Whether the key may use a model, by the model's own id. Resolve aliases first. */
export function allowsModel(policy: KeyPolicy, model: string): boolean {
  return policy.models === undefined || policy.models.some((pattern) => matchesPattern(pattern, model));
}

/**
 * Whether `pattern` matches all of `text`: `*` is any run of characters. The number of steps is at most the product of the two
 * lengths.
 */
export function matchesPattern(pattern: string, text: string): boolean {
  let at = 0;
  let star = -1;
  let restart = 0;
  for (let i = 0; i < text.length; ) {
    if (pattern[at] === "*") {
      star = at++;
      restart = i;
    } else if (pattern[at] === text[i]) {
      at++;
      i++;
    } else if (star >= 0) {
      at = star + 1;
      i = ++restart;
    } else {
      return false;
    }
  }
  while (pattern[at] === "*") at++;
  return at === pattern.length;
}
