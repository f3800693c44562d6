import type { LoadedForm } from "./adapter.ts";
import { type CompiledForm, compileForm } from "./compiled-form.ts";
import type { Form } from "./form.ts";

/** A form that was read, to be compiled when it is first used. */
export function loadForm(form: Form, hash: string): LoadedForm {
  let compiled: CompiledForm | undefined;
  return {
    ...{ form, hash },
    compiled() {
      compiled ??= compileForm(form, hash);
      return compiled;
    },
  };
}
