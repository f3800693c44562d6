import { MAX_LIST_LIMIT } from "../../../domain/limits.ts";
import { VERDICTS } from "../../../domain/task/routing.ts";
import { ATTEMPT_STATES, TASK_STATUSES } from "../../../domain/task/task.ts";
import { ENDLESS, LAST_EVENT_ID } from "../../events/wire.ts";
import type { EndpointContract } from "../../openapi/contract.ts";
import { FAMILY_PAGE } from "../../tasks/lineage/wire.ts";
import {
  ACCEPTED_REQUEST,
  ATTEMPT_FIELDS,
  OPTIONAL_OF_ATTEMPT,
  OPTIONAL_OF_STORY,
  storyFields,
} from "../../tasks/story/wire.ts";
import { TRACED_ATTEMPT, traceFields } from "../../tasks/trace/wire.ts";
import { LISTED_TASK_FIELDS, SEARCH_TEXT, TASK_ID, taskSchema } from "../../tasks/wire.ts";
import {
  closed,
  component,
  integer,
  list,
  nullable,
  openEnum,
  optional,
  type Properties,
  text,
} from "../../wire/schema.ts";
import { amount, idOf } from "../../wire/values.ts";
import { contract, NOT_FOUND } from "../contract.ts";

/** Tasks in a page unless said otherwise. */
export const DEFAULT_PAGE = 20;

/** The stream has no filter, and a client that asks for one must not take all tasks for a part. */
export const EVENTS_QUERY = optional({});

/** Which tasks are listed. */
export const TASKS_QUERY = optional({
  account: text("Id or name of one account; all unless given.", { maxLength: 200 }),
  kind: text("Tasks of one kind.", { enum: ["image", "video"] }),
  status: text("Tasks with one status.", { enum: TASK_STATUSES }),
  model: text("Tasks of one model, by its own id.", { minLength: 1 }),
  q: SEARCH_TEXT,
  limit: integer("Tasks in the page.", { minimum: 1, maximum: MAX_LIST_LIMIT, default: DEFAULT_PAGE }),
  after: text("`next` of the page before."),
});

const named = (prefix: string, description: string) =>
  closed({ id: idOf(prefix, "Its id."), name: text("What people call it.") }, { description });

const OWNERS: Properties = {
  account: named("acc", "Whose it is."),
  key: named("key", "The key that created it."),
  provider: text("The lane of the account that has it, had it, or gets it next."),
};

const MESSAGES = ["error_message", "error"];
/** One of `tasks` of a listing, and the data of events. */
const MANAGED_TASK = taskSchema("ManagedTask", MESSAGES, {
  fields: { ...LISTED_TASK_FIELDS, ...OWNERS },
});

const ATTEMPT: Properties = {
  ...ATTEMPT_FIELDS,
  route: closed({
    provider: text(
      "The lane of its account: the provider, and `/` and the account where that is not `default`.",
    ),
    upstream_model: text("What the provider calls the model."),
  }),
  detail: text("What went wrong, as it was noted for the operator."),
};

const MANAGED_STORY = taskSchema("ManagedTaskStory", MESSAGES, {
  fields: {
    ...storyFields({
      attempt: { fields: ATTEMPT, optional: [...OPTIONAL_OF_ATTEMPT, "detail"] },
      request: ACCEPTED_REQUEST,
    }),
    ...OWNERS,
  },
  optional: OPTIONAL_OF_STORY,
});

const WAY: Properties = {
  provider: text("The provider."),
  account: text("Its account, `default` where it has no name; absent of a provider that was off altogether."),
  upstream_model: text("What the provider calls the model."),
};

const CONSIDERED = list(
  closed(
    {
      ...WAY,
      verdict: openEnum(
        VERDICTS,
        "Why it was taken or not. `standby`: another one came first by the policy, or because the task waited there. `tried`: the task was sent there before. `held_back`: it is for what would wait too long elsewhere. `not_asked_for`: the request names another route. `cannot`: it cannot do the request exactly. `off`: no account is switched on. Otherwise what was in the way.",
      ),
    },
    { optional: ["account"] },
  ),
);

const MANAGED_TRACE = component("ManagedTaskTrace", {
  ...traceFields("ManagedTracedTask", {
    request: ACCEPTED_REQUEST,
    task: OWNERS,
    attempt: closed(
      {
        ...TRACED_ATTEMPT,
        ...WAY,
        state: openEnum(ATTEMPT_STATES, "What is known of it at the provider."),
        detail: text("What went wrong, as it was noted for the operator."),
        cost: amount("What it costs the operator, where that is known."),
        upstream_id: text("What the provider calls the job."),
        http_status: integer("Of its last answer to the submission."),
        upstream_request_id: text("What the provider calls the request of that answer."),
        routes_considered: {
          ...CONSIDERED,
          description: "The ways it was chosen among, where there was more than one.",
        },
      },
      {
        optional: [
          ...[...OPTIONAL_OF_ATTEMPT, "detail", "cost", "upstream_id", "http_status"],
          ...["upstream_request_id", "routes_considered"],
        ],
      },
    ),
  }),
  routes_considered: { ...CONSIDERED, description: "Of the last attempt; none before the first." },
});

const ONE = { path: { id: TASK_ID } };

export const MANAGED_TASKS = {
  list: contract(
    "listManagedTasks",
    "List the tasks of all accounts, newest first",
    closed({
      tasks: list(MANAGED_TASK),
      next: nullable(text("Give as `after` for the next page; null on the last.")),
    }),
    {
      query: TASKS_QUERY,
      ...NOT_FOUND,
    },
  ),
  read: contract("readManagedTask", "Read everything about a task, with its routes", MANAGED_STORY, {
    description: "The address of its callback is its owner's alone.",
    ...ONE,
  }),
  trace: contract(
    "readManagedTaskTrace",
    "Read why a task went where it went, and what took how long",
    MANAGED_TRACE,
    {
      description: "The address of its callback is its owner's alone.",
      ...ONE,
    },
  ),
  tree: contract("readManagedTaskTree", "Read a task's family, whoever's it is", FAMILY_PAGE.answer, {
    description: "As its owner reads it by `GET /v1/tasks/{task_id}/tree`.",
    query: FAMILY_PAGE.query,
    ...ONE,
    ...NOT_FOUND,
  }),
  events: {
    id: "followManagedTasks",
    tag: "Management",
    summary: "Follow the tasks of all accounts",
    description: `Server-sent events: one for every change of a task's status or progress, by the name of its status, with what the list has of it. Changes that follow one another within a tenth of a second may be told as the last of them. ${ENDLESS}`,
    headers: LAST_EVENT_ID,
    answers: {
      200: {
        description: "A stream without an end.",
        events: Object.fromEntries(TASK_STATUSES.map((status) => [status, MANAGED_TASK])),
      },
    },
    errors: ["invalid_request"],
  } satisfies EndpointContract,
  cancel: contract("cancelManagedTask", "Cancel a task of any account", MANAGED_STORY, {
    description:
      "As its owner would: it costs nothing, and one under way ends when its provider has said so.",
    ...ONE,
    errors: [...NOT_FOUND.errors, "task_not_cancellable"],
  }),
};
