import { TASK_STATUSES } from "../../../domain/task/task.ts";
import { TASK_ID } from "../../tasks/wire.ts";
import { flag, integer, list, type Properties, type Schema, text } from "../../wire/schema.ts";
import { MAX_WAIT_SEC, USUAL_WAIT_SEC } from "./limits.ts";

/* Outputs are open: later versions may add fields, and clients check what they get against what they were told. */
const open = (required: readonly string[], properties: Properties): Schema => ({
  type: "object",
  required,
  properties,
});

const number = (description: string): Schema => ({ type: "number", description });

/** The same schema, or null. A list of types would be shorter, but clients that translate schemas for their model refuse it. */
const nullable = ({ description, ...schema }: Schema): Schema => ({
  ...(description === undefined ? {} : { description }),
  anyOf: [schema, { type: "null" }],
});

/** What is left to spend. */
const LEFT: Properties = {
  currency: text("Of all amounts."),
  balance_left: nullable(text("What the account has left; null where it has no limit.")),
  key_quota_left: nullable(text("What the API key may still spend; null where it has no limit.")),
};
const LEFT_NAMES = ["currency", "balance_left", "key_quota_left"];

const RESULT = open(["url", "mime_type", "size_bytes", "width", "height"], {
  url: text("Where the file is. It needs no key."),
  mime_type: { type: "string" },
  size_bytes: { type: "integer" },
  width: integer("Pixels."),
  height: integer("Pixels."),
  duration_seconds: number("Of videos."),
  saved_to: text("Where `svc mcp --save-to` saved it."),
});

export const TASK_OUTPUT = open(["task_id", "kind", "model", "status", "progress", ...LEFT_NAMES], {
  task_id: text("Id of the task, for get_task and cancel_task, and as an input of later calls."),
  kind: text("`image` or `video`."),
  model: text("Id of the model."),
  status: { type: "string", enum: TASK_STATUSES },
  progress: integer("Percent."),
  queue_position: integer("How many tasks are ahead of it, while it is pending."),
  results: list(RESULT, { description: "What was made." }),
  result_issues: list({ type: "object" }, { description: "Results that are missing, and why." }),
  files_removed: flag("Its files were kept long enough, and are gone."),
  error: open(["code", "message"], { code: { type: "string" }, message: { type: "string" } }),
  replayed: flag("The call with this idempotency_key was made before; this is its task."),
  held: text("What is reserved for it; it costs at most so much."),
  cost: text("What it cost."),
  ...LEFT,
  next: text("How to go on, while it is not over."),
});

export const ESTIMATE_OUTPUT = open(["model", "status", "max_cost", "missing", ...LEFT_NAMES], {
  model: text("Id of the model."),
  status: text("`exact`, `range`, or why there is no price."),
  min_cost: nullable(text("The least it costs when everything is delivered.")),
  max_cost: nullable(text("What a call would reserve: the most it costs.")),
  assumptions: list({ type: "object" }, { description: "What the price depends on and was not given." }),
  missing: list({ type: "string" }, { description: "Parameters that a call would need." }),
  affordable: nullable(flag("Whether balance and quota suffice now.")),
  limited_by: nullable(text("What does not suffice.")),
  max_cost_required: flag("Whether a call must give `max_cost`."),
  estimated_seconds: nullable({ type: "object", description: "How long recent tasks took: p50 and p90." }),
  ...LEFT,
});

export const MODELS_OUTPUT = open(["models"], {
  models: list(
    { type: "object" },
    {
      description: "Each with id, kind, name, description, capabilities, inputs, parameters and price.",
    },
  ),
});

export const WAIT = integer(
  "Seconds to wait for the result. After them the task goes on, and its task_id is the answer.",
  { minimum: 0, maximum: MAX_WAIT_SEC, default: USUAL_WAIT_SEC },
);

export const TASK_ID_INPUT = { ...TASK_ID, description: "Id of one of your tasks." };

/** What every tool takes that creates a task. */
export function createOptions(requiredAbove: string): Properties {
  return {
    wait: WAIT,
    max_cost: {
      anyOf: [{ type: "string" }, { type: "number" }],
      description: `The most it may cost; a call that would cost more is refused with its price. Required above ${requiredAbove}.`,
    },
    idempotency_key: text(
      "The same key again with the same parameters gives the same task, and costs nothing more.",
      {
        minLength: 1,
        maxLength: 255,
      },
    ),
  };
}
