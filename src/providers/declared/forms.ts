import { builtInForms } from "./built-in.ts" with { type: "macro" };
import { type LoadedForm, loadForm } from "./loaded.ts";

/** Every form that comes along, by the id of its provider. Loaded when one of them is used. */
export const BUILT_IN_FORMS = builtInForms();

const loaded = new Map<string, LoadedForm>();

/** A form that comes along. @throws Error for a provider that has none */
export function loadBuiltIn(id: string): LoadedForm {
  const known = BUILT_IN_FORMS[id];
  if (known === undefined) throw new Error(`There is no built-in form of ${id}`);
  return loaded.getOrInsertComputed(id, () => loadForm(known.form, known.hash, known.text));
}
