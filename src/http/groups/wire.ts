import { MAX_LIST_LIMIT } from "../../domain/limits.ts";
import { GROUP_POLICIES, MAX_GROUP_TASKS } from "../../domain/task/group-terms.ts";
import { CALLBACK_RULES, TOLD_OUTCOME } from "../generations/wire.ts";
import { contract, jsonBody, succeeds } from "../openapi/contract.ts";
import { ROUTING_HEADERS } from "../routing.ts";
import { LISTED_TASK, TASK_ID } from "../tasks/wire.ts";
import {
  closed,
  component,
  integer,
  list,
  nullable,
  openEnum,
  optional,
  type Schema,
  text,
} from "../wire/schema.ts";
import { amount, CURRENCY_SCHEMA, idOf, unixSeconds } from "../wire/values.ts";

const GROUP_ID = idOf("grp", "Public id of the group.");
/** Groups of a page, where nothing else is asked for. */
export const DEFAULT_LIMIT = 20;
const DAY_SEC = 86_400;

export const GROUP_BODY: Schema = {
  title: "CreateGroup",
  ...optional({
    requests: list(
      {
        type: "object",
        required: ["model"],
        properties: { model: text("Id or alias of a model.", { minLength: 1 }) },
        description: "A create body of the model.",
        additionalProperties: true,
      },
      {
        minItems: 1,
        maxItems: MAX_GROUP_TASKS,
        description: "Requests that are whole by themselves, each a task after those of `models`.",
      },
    ),
    prompt: text("The prompt of all tasks of `models`, unless the grid has one."),
    models: list(text("Id or alias of a model.", { minLength: 1 }), {
      minItems: 1,
      maxItems: MAX_GROUP_TASKS,
      description: "Each makes the prompt.",
    }),
    parameters: {
      type: "object",
      description: "Other fields of the creates, the same for all tasks of `models`.",
      additionalProperties: true,
    },
    grid: {
      type: "object",
      description: `Fields with several values each: there is a task for each model and each combination, ${MAX_GROUP_TASKS} at most.`,
      additionalProperties: { type: "array", minItems: 1, maxItems: MAX_GROUP_TASKS },
    },
    budget: text("The most that all tasks together may hold, as a decimal string of USD.", {
      examples: ["0.50"],
    }),
    deadline_seconds: integer("After so long, what has not ended is cancelled.", {
      minimum: 1,
      maximum: DAY_SEC,
    }),
    callback_url: text(
      "Address that is told once, when all tasks have ended, in whatever way. Each task tells of its own end where `parameters` has a `callback_url`.",
      { minLength: 1, maxLength: 2048 },
    ),
    policy: text(
      "`all`: every task goes on to its end. `first`: when one completes, the others are cancelled. `cheapest`, `fastest`: as `all`, and once all have ended, `winner` is the completed task that was charged least, or that took the shortest from its start.",
      { enum: GROUP_POLICIES, default: "all" },
    ),
  }),
};

const CREATED = closed({ group_id: GROUP_ID, task_ids: list(TASK_ID) });
const POLICY = openEnum(GROUP_POLICIES, "What was asked for.");
const USAGE = closed({ cost: amount("What its tasks were charged so far."), currency: CURRENCY_SCHEMA });
const SHEET = text("All results in one picture. Where there are any.", { format: "uri" });
const STANDING = {
  group_id: GROUP_ID,
  status: text(
    "`processing` until all tasks have ended; then `completed` if any did, else `failed` if any did.",
    {
      enum: ["processing", "completed", "failed", "cancelled"],
    },
  ),
  policy: POLICY,
  winner: nullable({ ...TASK_ID, description: "The task that the policy chose; null while there is none." }),
  created_at: unixSeconds("When it was accepted."),
  deadline_at: nullable(unixSeconds("When what has not ended is cancelled.")),
  contact_sheet: nullable({
    ...SHEET,
    description: "All results in one picture, once all tasks have ended. Null where there are none.",
  }),
  usage: USAGE,
};
const GROUP = component("Group", {
  ...STANDING,
  tasks: list(closed({ task_id: TASK_ID, task: nullable(LISTED_TASK) }), {
    description: "In the order of models, then of the grid, then of the requests. A deleted task is null.",
  }),
});

/** What the callback of a group says (docs/api.md 4.14). */
export const GROUP_CALLBACK = component(
  "GroupCallback",
  {
    group_id: GROUP_ID,
    request_id: text("`X-Request-ID` of the create."),
    status: text("`completed` if any task did, else `failed` if any did, else `cancelled`.", {
      enum: ["completed", "failed", "cancelled"],
    }),
    policy: POLICY,
    winner: { ...TASK_ID, description: "The task that the policy chose. Where there is one." },
    contact_sheet: SHEET,
    usage: USAGE,
    tasks: list(
      closed(
        {
          ...{ task_id: TASK_ID, model: text("Its model.") },
          ...{
            status: text("How it ended.", { enum: ["completed", "failed", "cancelled"] }),
            ...TOLD_OUTCOME,
          },
        },
        { optional: Object.keys(TOLD_OUTCOME) },
      ),
      { description: "In the order of the group, without those that were deleted." },
    ),
    created_at: text("ISO 8601, UTC.", { format: "date-time" }),
    completed_at: text("When the last task ended. ISO 8601, UTC.", { format: "date-time" }),
  },
  { optional: ["winner", "contact_sheet"] },
);

export const CREATE_GROUP = contract("createGroup", "Tasks", "Make one prompt in several ways", {
  description:
    "Makes a task for each model and each combination of the grid, and for each of the requests, all of them or none: where one is refused, or the sum of the holds is above `budget`, nothing is stored and nothing is held. Errors name the field as it was given, such as `grid.duration[1]`, `models[0]` or `requests[2].size`. Each task is one like any other, with a price and an end of its own. With an `Idempotency-Key`, the same request again is the same group.",
  body: jsonBody(GROUP_BODY),
  headers: ROUTING_HEADERS,
  isIdempotent: true,
  callback: {
    name: "groupEnded",
    address: "{$request.body#/callback_url}",
    description: `Sent when the last task has ended. ${CALLBACK_RULES}`,
    schema: GROUP_CALLBACK,
  },
  answers: succeeds("All tasks are accepted.", CREATED, ["X-Request-Cost", "X-Idempotent-Replay"]),
  errors: [
    ...(["invalid_request", "insufficient_quota", "permission_denied", "model_not_available"] as const),
    ...(["content_policy_violation", "moderation_unavailable", "disk_low"] as const),
  ],
});

const LISTED_GROUP = component("ListedGroup", {
  ...STANDING,
  task_ids: list(TASK_ID, { description: "In the order of the group, deleted ones too." }),
});

export const GROUP_QUERY = optional({
  limit: integer("Groups in the page.", { minimum: 1, maximum: MAX_LIST_LIMIT, default: DEFAULT_LIMIT }),
  after: text("`next` of the page before."),
});

export const LIST_GROUPS = contract("listGroups", "Tasks", "List groups, newest first", {
  description:
    "Groups are found among the account's tasks, a thousand in one page: a page may be short, and have a next one all the same.",
  query: GROUP_QUERY,
  answers: succeeds(
    "One page.",
    closed({
      groups: list(LISTED_GROUP),
      next: nullable(text("Give as `after` for the next page; null on the last.")),
    }),
  ),
  errors: ["invalid_request"],
});

const NOT_FOUND = "A group of another account is not there, and neither is one whose first task is deleted.";

export const READ_GROUP = contract("readGroup", "Tasks", "Read a group", {
  description: `The group as it stands, with all of its tasks. ${NOT_FOUND}`,
  path: { group_id: GROUP_ID },
  answers: succeeds("The group.", GROUP),
  errors: ["task_not_found"],
});

export const CANCEL_GROUP = contract("cancelGroup", "Tasks", "Cancel a group", {
  description: `Cancels the tasks that have not ended, each as its own cancel would. A group that is over stays as it is. ${NOT_FOUND}`,
  path: { group_id: GROUP_ID },
  answers: succeeds("The group.", GROUP),
  errors: ["task_not_found"],
});
