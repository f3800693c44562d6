import { MAX_REDELIVERIES } from "../../../service/redeliver-callbacks.ts";
import {
  AGAIN,
  CALLBACK_ID,
  pageOf,
  QUERY_FIELDS,
  REDELIVERY_FIELDS,
  REST_FIELDS,
  SHARED_FIELDS,
} from "../../callbacks/wire.ts";
import { jsonBody } from "../../openapi/contract.ts";
import { closed, component, optional, type Properties, text } from "../../wire/schema.ts";
import { idOf } from "../../wire/values.ts";
import { contract, NOT_FOUND } from "../contract.ts";

/** Callbacks in a page unless said otherwise. */
export const DEFAULT_PAGE = 20;

const OWNERS: Properties = {
  account: text("Id or name of one account; all unless given.", { maxLength: 200 }),
  // Not `key`, which carries a credential.
  key_id: text("Id or name of the key that created their tasks.", { maxLength: 200 }),
};

/** Selects the callbacks to list. */
export const CALLBACKS_QUERY = optional({ ...OWNERS, ...QUERY_FIELDS });

/** Selects the callbacks to send again. The service checks which fields go together. */
export const MANAGED_REDELIVERY = optional({ ...OWNERS, ...REDELIVERY_FIELDS });

const named = (prefix: string, description: string) =>
  closed({ id: idOf(prefix, "Its id."), name: text("What people call it.") }, { description });

const FIELDS: Properties = {
  ...SHARED_FIELDS,
  host: text("Host and port it goes to. The rest of its address is its owner's alone."),
  account: named("acc", "Whose it is."),
  key: named("key", "The key that created its task."),
};

const RECORD = component("ManagedCallback", FIELDS);
const IN_FULL = component("ManagedCallbackInFull", { ...FIELDS, ...REST_FIELDS });
const PAGE = pageOf(RECORD);

const ONE = { path: { id: CALLBACK_ID } };
const SHORT =
  "A page looks at 1,000 callbacks at most: where few of them fit, it has fewer than asked for, or none, and `next` leads on.";

export const MANAGED_CALLBACKS = {
  list: contract("listManagedCallbacks", "List the callbacks of all accounts, newest first", PAGE, {
    description: SHORT,
    query: CALLBACKS_QUERY,
    ...NOT_FOUND,
  }),
  read: contract(
    "readManagedCallback",
    "Read a callback of any account, what it says and how each send went",
    IN_FULL,
    ONE,
  ),
  redeliver: contract("redeliverManagedCallback", "Send a callback of any account once more", RECORD, {
    description: AGAIN,
    ...ONE,
    ...NOT_FOUND,
  }),
  redeliverPage: contract(
    "redeliverManagedCallbacks",
    "Send the callbacks of a task, or of a range of time, once more",
    PAGE,
    {
      description: `Either \`task_id\` alone, or \`from\` with or without the others. Newest first, ${MAX_REDELIVERIES} in one call at most. ${SHORT} ${AGAIN}`,
      body: jsonBody(MANAGED_REDELIVERY),
      ...NOT_FOUND,
    },
  ),
};
