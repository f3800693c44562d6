import { callbackRestForm, managedCallbackForm } from "../../../domain/callback/callback-form.ts";
import type { ManagedCallback, ManagedCallbackPage } from "../../../domain/ports/callback-store.ts";
import type { ManageCallbacksAs, ManagedSelection } from "../../../service/manage-callbacks.ts";
import { readBody } from "../../body.ts";
import { type Endpoint, managed } from "../../exchange.ts";
import { success } from "../../reply.ts";
import { checkQuery } from "../../wire/check.ts";
import { CALLBACKS_QUERY, DEFAULT_PAGE, MANAGED_CALLBACKS, MANAGED_REDELIVERY } from "./wire.ts";

export interface ManagedCallbackDeps {
  readonly manageCallbacksAs: ManageCallbacksAs;
  /** Most attempts of a callback. */
  readonly maxAttempts: () => number;
}

/** A selection as a request names its fields. The schemas check their types. */
interface SelectionBody extends Omit<ManagedSelection, "taskId" | "key"> {
  readonly task_id?: string;
  readonly key_id?: string;
}

/** /admin/v1/callbacks. */
export function managedCallbackEndpoints({
  manageCallbacksAs,
  maxAttempts,
}: ManagedCallbackDeps): Endpoint[] {
  const present = (callback: ManagedCallback) => managedCallbackForm(callback, maxAttempts());
  const presentPage = ({ callbacks, next }: ManagedCallbackPage) => ({
    callbacks: callbacks.map(present),
    next: next ?? null,
  });
  const path = "/admin/v1/callbacks";
  return [
    managed("GET", path, MANAGED_CALLBACKS.list, async ({ operator, query }) => {
      // The schema has checked that it is of this type.
      const asked = checkQuery(CALLBACKS_QUERY, query()) as SelectionBody & { readonly limit?: number };
      const { limit = DEFAULT_PAGE, ...selection } = asked;
      return success(
        presentPage(await manageCallbacksAs(operator).list({ ...toSelection(selection), limit })),
      );
    }),
    managed("POST", `${path}/redeliver`, MANAGED_CALLBACKS.redeliverPage, async (exchange) => {
      const selection = toSelection(await readBody<SelectionBody>(exchange, MANAGED_REDELIVERY));
      return success(presentPage(await manageCallbacksAs(exchange.operator).redeliverPage(selection)));
    }),
    managed("GET", `${path}/:id`, MANAGED_CALLBACKS.read, async ({ operator, param }) => {
      const reading = await manageCallbacksAs(operator).read(param("id"));
      const { callback } = reading;
      const body = { ...present(callback), ...callbackRestForm(reading) };
      return success(body, undefined, { task: callback.taskId });
    }),
    managed("POST", `${path}/:id/redeliver`, MANAGED_CALLBACKS.redeliver, async ({ operator, param }) => {
      const callback = await manageCallbacksAs(operator).redeliver(param("id"));
      return success(present(callback), undefined, { task: callback.taskId });
    }),
  ];
}

function toSelection({ task_id: taskId, key_id: key, ...rest }: SelectionBody): ManagedSelection {
  return { ...rest, taskId, key };
}
