import { MEDIA_TYPES } from "../../../domain/media/asset.ts";
import { PHASES } from "../../../domain/task/trace.ts";
import { contract, succeeds } from "../../openapi/contract.ts";
import {
  closed,
  component,
  integer,
  list,
  optional,
  type Properties,
  type Schema,
  text,
} from "../../wire/schema.ts";
import { amount, CURRENCY_SCHEMA, idOf } from "../../wire/values.ts";
import {
  ACCEPTED_REQUEST,
  ATTEMPT_FIELDS,
  CALLBACK,
  CALLBACK_URL,
  CHARGE_LINES,
  OPTIONAL_OF_ATTEMPT,
  OPTIONAL_OF_TASK,
  toldFields,
} from "../story/wire.ts";
import { TASK_ID, taskSchema } from "../wire.ts";

const SPAN = closed(
  {
    duration_ms: integer("How long it took, or has taken so far.", { minimum: 0 }),
    count: integer("Of polls: how many, since the server was started last.", { minimum: 0 }),
    failed: integer("Of polls: how many had no good answer, so that they were made again; absent for none.", {
      minimum: 1,
    }),
  },
  { optional: ["count", "failed"] },
);

const PHASES_TOLD = optional(Object.fromEntries(PHASES.map((phase) => [phase, SPAN])), {
  description:
    "Where its time was spent; the phases do not overlap, and what was not measured is absent. `queue`: until it was started. `connect`: until the connection was open. `upload`: inputs and body were sent. `submit`: the rest until the answer. `polls`: until the provider had made it. `fetch` and `store`: its files were fetched, checked and stored.",
});

/** What every reader of a trace learns about an attempt. */
export const TRACED_ATTEMPT: Properties = { ...ATTEMPT_FIELDS, phases: PHASES_TOLD };

const ASSET = closed(
  {
    id: idOf("asset", "Its id."),
    role: text("", { enum: ["input", "output"] }),
    index: integer("Place among the inputs, or in the result.", { minimum: 0 }),
    media_type: text("", { enum: Object.keys(MEDIA_TYPES) }),
    size_bytes: integer("", { minimum: 0 }),
    width: integer("Pixels.", { minimum: 1 }),
    height: integer("Pixels.", { minimum: 1 }),
    duration_ms: integer("Of a video, a recording or an animated GIF.", { minimum: 0 }),
    url: text("Its file here.", { format: "uri" }),
  },
  { optional: ["width", "height", "duration_ms"] },
);

const PRICE = closed(
  {
    amount: amount("The most it can cost, which was held when it was accepted."),
    charged: amount("What it was charged. Once it has ended."),
    refunded: amount("What was given back of it. Of a task that was refunded."),
    currency: CURRENCY_SCHEMA,
    lines: { ...CHARGE_LINES, description: "The lines that `charged` is the sum of." },
  },
  { optional: ["charged", "refunded"] },
);

const MESSAGES = ["error_message", "error"];

/** The fields of a trace, for every reader. */
export function traceFields(
  title: string,
  of: { readonly request: Properties; readonly task?: Properties; readonly attempt: Schema },
): Properties {
  const fields = { ...toldFields(of.request), ...of.task };
  return {
    task: taskSchema(title, MESSAGES, { fields, optional: OPTIONAL_OF_TASK }),
    attempts: list(of.attempt, { description: "Submissions to providers, in order." }),
    callbacks: list(CALLBACK, { description: "What is posted at the end of the task: one, or none." }),
    assets: list(ASSET, { description: "The files of its inputs and of its result." }),
    price: PRICE,
  };
}

const TASK_TRACE = component(
  "TaskTrace",
  traceFields("TracedTask", {
    request: { ...ACCEPTED_REQUEST, callback_url: CALLBACK_URL },
    attempt: closed(TRACED_ATTEMPT, { optional: OPTIONAL_OF_ATTEMPT }),
  }),
);

export const READ_TRACE = contract("readTaskTrace", "Tasks", "Read where the time of a task went", {
  description:
    "A task of either kind: its stages, its attempts by phases, its files, its price and its callback. A task that is unknown or another account's is not there.",
  path: { task_id: TASK_ID },
  answers: succeeds("The task as it stands.", TASK_TRACE),
  errors: ["task_not_found"],
});
