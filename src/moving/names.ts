import type { ModelId } from "../domain/ids.ts";

/** The most characters of a name of an account or a key. */
const MOST = 80;
const CONTROL = /[\p{Cc}\p{Cs}]+/gu;

/** A name of theirs as it may stand here. @param otherwise where nothing of it is left */
export function nameOf(given: unknown, otherwise: string): string {
  const text = typeof given === "string" ? given.replace(CONTROL, " ").trim() : "";
  const cut = [...text].slice(0, MOST).join("").trim();
  return cut === "" ? otherwise : cut;
}

/** A name of theirs as an account of a provider may be called. @param otherwise where nothing of it is left */
export function accountNameFrom(given: string, otherwise: string): string {
  const name = given
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, "-")
    .replace(/^[-_]+|[-_]+$/g, "")
    .slice(0, 28)
    .replace(/[-_]+$/, "");
  return name === "" ? otherwise : name;
}

/** The most other names of models that a key may have. */
const MOST_ALIASES = 100;

/**
 * Names of models there as aliases of a key here, those that are called the same left out.
 * @returns none where there are none, and what is to be told where not all fit
 */
export function aliasesFrom(names: Iterable<readonly [alias: string, id: ModelId]>): {
  readonly terms: { readonly aliases?: Readonly<Record<string, ModelId>> };
  readonly notes: readonly string[];
} {
  const all = [...names].filter(([alias, id]) => alias !== id);
  const notes = all.length > MOST_ALIASES ? [`of ${all.length} names of models, ${MOST_ALIASES} come`] : [];
  return {
    terms: all.length === 0 ? {} : { aliases: Object.fromEntries(all.slice(0, MOST_ALIASES)) },
    notes,
  };
}

/** What may be shown of a secret of theirs: a few characters at each end of a long one. */
export function displayOfForeign(key: string): string {
  return key.length < 16 ? "…" : `${key.slice(0, 5)}…${key.slice(-4)}`;
}
