import { type CompiledForm, compileForm } from "./compiled-form.ts";
import type { Form } from "./form.ts";

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
