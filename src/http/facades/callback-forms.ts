import { GROUP_FORM } from "../../domain/callback/callback.ts";
import type { CallbackForm, CallbackForms } from "../../domain/ports/callback-forms.ts";
import type { Clock, Seal, Secrets } from "../../domain/ports/runtime.ts";
import { createGroupForm } from "../groups/callback.ts";
import { createFalForm } from "./fal/webhook.ts";
import type { FormDeps } from "./form-deps.ts";
import { createReplicateForm } from "./replicate/webhook.ts";
import { createWebhookSigning } from "./signing.ts";
import { createUploadTickets } from "./upload-tickets.ts";

/**
 * The forms that webhooks of other APIs have, and that of groups, by the names that tasks and callbacks are stored with. A name stays as
 * long as these do.
 */
const FORMS: Readonly<Record<string, (deps: FormDeps) => CallbackForm>> = {
  fal: createFalForm,
  [GROUP_FORM]: createGroupForm,
  replicate: createReplicateForm,
};

/** All forms, also of facades that are off: their tasks may still be under way. Each is made when it is first used. */
function createFacadeForms(deps: FormDeps): CallbackForms {
  const made = new Map<string, CallbackForm>();
  return (name) => {
    const make = Object.hasOwn(FORMS, name) ? FORMS[name] : undefined;
    return make && made.getOrInsertComputed(name, () => make(deps));
  };
}

/** What facades need of a data folder: its forms of webhooks, what signs them, and addresses to upload to. */
export function createFacadeParts({
  seal,
  clock,
  ...deps
}: {
  readonly tasks: FormDeps["tasks"];
  readonly catalog: FormDeps["catalog"];
  readonly secrets: Pick<Secrets, "sign" | "hash">;
  readonly seal: Pick<Seal, "sign" | "isSigned">;
  readonly clock: Pick<Clock, "now">;
}) {
  const signing = createWebhookSigning({ seal });
  const forms = createFacadeForms({ ...deps, signing, seal });
  return { signing, forms, uploadTickets: createUploadTickets({ seal, clock }) };
}
