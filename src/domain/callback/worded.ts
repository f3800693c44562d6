import type { CallbackId, TaskId } from "../ids.ts";
import type { CallbackForm, CallbackForms } from "../ports/callback-forms.ts";
import type { CallbackPost } from "../ports/egress.ts";
import type { Secrets } from "../ports/runtime.ts";
import type { Task } from "../task/task.ts";
import type { Callback } from "./callback.ts";
import { callbackPayload, callbackPost } from "./callback-payload.ts";

export interface WordingDeps {
  readonly forms: CallbackForms;
  /** The public address of this service, if set. Otherwise the origin of the creating request is used. */
  readonly publicUrl?: string | undefined;
}

type Worded = Pick<Callback, "event" | "form" | "createdAt"> | undefined;

/** The form of a callback; undefined for the default form, and for a form that this program does not know. */
export function formOf({ forms }: Pick<WordingDeps, "forms">, callback: Worded): CallbackForm | undefined {
  return callback?.form === undefined ? undefined : forms(callback.form);
}

/**
 * The body of every send of a callback, in its form. @param callback absent for a task without a callback; the result is the
 * body that it would receive
 */
export async function wordedBody(deps: WordingDeps, task: Task, callback: Worded): Promise<string> {
  const form = formOf(deps, callback);
  if (form === undefined || callback === undefined) return callbackPayload(task, deps.publicUrl);
  const { event, createdAt: at } = callback;
  const [origin, options] = [deps.publicUrl ?? task.origin, task.callbackTerms?.options];
  return form.body({ task, event, at, origin, options });
}

/** The request that a send of a callback posts, in its form and with that form's signature. See `callbackPost`. */
export async function wordedPost(
  deps: WordingDeps & { readonly secrets: Pick<Secrets, "sign"> },
  task: Task,
  callback: Worded,
  send: { readonly id: CallbackId | TaskId; readonly at: number; readonly kept: string | undefined },
): Promise<CallbackPost> {
  const form = formOf(deps, callback);
  if (form === undefined) return callbackPost(deps, task, send);
  const body = await wordedBody(deps, task, callback);
  return { body, headers: await form.headers({ ...send, task, body }) };
}
