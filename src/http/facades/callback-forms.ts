import type { CallbackForm, CallbackForms } from "../../domain/ports/callback-forms.ts";
import type { Seal, Secrets } from "../../domain/ports/runtime.ts";
import type { TaskStore } from "../../domain/ports/task-store.ts";

/** What any form is made with. */
export interface FormDeps {
  readonly tasks: Pick<TaskStore, "assetById" | "requestOf">;
  readonly secrets: Pick<Secrets, "sign" | "hash">;
  readonly seal: Pick<Seal, "sign">;
}

/** The forms that webhooks of other APIs have, by the names that tasks are stored with. A name stays as long as such tasks do. */
const FORMS: Readonly<Record<string, (deps: FormDeps) => CallbackForm>> = {};

/** All forms, also of facades that are off: their tasks may still be under way. Each is made when it is first used. */
export function createFacadeForms(deps: FormDeps): CallbackForms {
  const made = new Map<string, CallbackForm>();
  return (name) => {
    const make = Object.hasOwn(FORMS, name) ? FORMS[name] : undefined;
    return make && made.getOrInsertComputed(name, () => make(deps));
  };
}
