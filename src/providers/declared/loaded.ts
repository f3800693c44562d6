import { type CompiledForm, compileForm } from "./compiled-form.ts";
import type { Form } from "./form.ts";
import { BUILT_IN_FORMS } from "./forms.ts";

/** A form, compiled when it is first used. */
export interface LoadedForm {
  readonly form: Form;
  /** SHA-256 of its text. */
  readonly hash: string;
  readonly text: string;
  compiled(): CompiledForm;
}

export function loadForm(form: Form, hash: string, text: string): LoadedForm {
  let compiled: CompiledForm | undefined;
  return {
    ...{ form, hash, text },
    compiled() {
      compiled ??= compileForm(form, hash);
      return compiled;
    },
  };
}

const loaded = new Map<string, LoadedForm>();

/** A form that comes along. @throws Error for a provider that has none */
export function loadBuiltIn(id: string): LoadedForm {
  const known = BUILT_IN_FORMS[id];
  if (known === undefined) throw new Error(`There is no built-in form of ${id}`);
  return loaded.getOrInsertComputed(id, () => loadForm(known.form, known.hash, known.text));
}
