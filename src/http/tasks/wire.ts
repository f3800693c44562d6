import { MAX_LIST_LIMIT, MAX_STATUS_WAIT_SEC } from "../../domain/limits.ts";
import { MAX_PARTIAL_IMAGES } from "../../domain/task/preview.ts";
import { FILE_DAMAGED, RESULT_ISSUE_CODES } from "../../domain/task/result-issue.ts";
import { TASK_STATUSES } from "../../domain/task/task.ts";
import { contract, succeeds } from "../openapi/contract.ts";
import { TASK_ERROR_CODE } from "../wire/errors.ts";
import {
  closed,
  component,
  integer,
  list,
  nullable,
  openEnum,
  optional,
  type Properties,
  type Schema,
  text,
} from "../wire/schema.ts";
import { amount, CURRENCY_SCHEMA, idOf, unixSeconds } from "../wire/values.ts";

export const TASK_ID = idOf("task", "Public id of the task.");
const KIND = text("What the task makes; it decides the path of its status.", { enum: ["image", "video"] });
const STATUS = text("Branch on this before reading anything else.", { enum: TASK_STATUSES });
const RESULT = list(text("", { format: "uri" }), {
  minItems: 1,
  description: "URLs of what was made, in order. With `completed` only.",
});
export const RESULT_ISSUES = list(
  component("ResultIssue", {
    index: integer("Its position among the results asked for, from 0.", { minimum: 0 }),
    code: openEnum(
      [...RESULT_ISSUE_CODES, FILE_DAMAGED],
      "Why it is missing, in the words of `error_code`; or `FILE_DAMAGED`: its file was found damaged later, and `result` still has its address.",
    ),
    message: text("The same for people, safe to show."),
  }),
  {
    minItems: 1,
    description:
      "The results that were asked for and did not come; they are not charged. Absent when all came. `result` holds the others, in order.",
  },
);
const FAILURE_MESSAGE = text("What went wrong, safe to show. With `failed` only.");

const FIELDS = {
  task_id: TASK_ID,
  status: STATUS,
  progress: integer("Percent. Never goes down; 100 only with `completed`.", { minimum: 0, maximum: 100 }),
  model: text("Id of the model."),
  created_at: unixSeconds("When the task was accepted."),
  parent_id: { ...TASK_ID, description: "The task that it was made from, which may be deleted since." },
  queue_position: integer("Tasks expected to start before this one. While `pending` only.", { minimum: 0 }),
  cancel_requested: {
    const: true,
    description: "A cancel was asked for, and the provider has not said yet what came of it.",
  },
  result: RESULT,
  result_issues: RESULT_ISSUES,
  completed_at: unixSeconds("When the task ended."),
  files_removed_at: unixSeconds(
    "When the files of `result` were removed, because they were kept long enough: their addresses answer 404.",
  ),
  error_code: TASK_ERROR_CODE,
  usage: closed(
    { cost: amount("What the task was charged."), currency: CURRENCY_SCHEMA },
    { description: "Once settled." },
  ),
};

const OPTIONAL = [
  "progress",
  "parent_id",
  "queue_position",
  "cancel_requested",
  "result",
  "result_issues",
  "completed_at",
  "files_removed_at",
  "error_code",
  "usage",
];

/** A task, where its messages are, and the fields that only some answers have. */
export function taskSchema(
  title: string,
  messages: readonly string[],
  more: { readonly fields?: Properties; readonly optional?: readonly string[] } = {},
): Schema {
  const fields = {
    ...FIELDS,
    ...Object.fromEntries(messages.map((name) => [name, FAILURE_MESSAGE])),
    ...more.fields,
  };
  return {
    title,
    ...closed(fields, {
      optional: [...OPTIONAL, ...messages, ...(more.optional ?? [])],
      allOf: [
        whenStatus(
          "completed",
          ["result", "completed_at", "usage"],
          ["error_code", "cancel_requested", ...messages],
        ),
        whenStatus("failed", ["error_code", "completed_at"], ["result", "result_issues", "cancel_requested"]),
        whenStatus("pending", [], ["result", "result_issues", "completed_at", "error_code"]),
        whenStatus("cancelled", [], ["cancel_requested"]),
      ],
    }),
  };
}

/** For one status: the fields that are always present, and those that never are. */
function whenStatus(status: string, present: readonly string[], absent: readonly string[]): Schema {
  return {
    anyOf: [
      { properties: { status: { not: { const: status } } } },
      {
        ...(present.length === 0 ? {} : { required: present }),
        ...(absent.length === 0 ? {} : { not: { anyOf: absent.map((name) => ({ required: [name] })) } }),
      },
    ],
  };
}

/** `data` of an image task's status (docs/api.md 4.5). */
const IMAGE_TASK = taskSchema("ImageTask", ["error_message"]);
/** `data` of a video task's status: the message is in `error` (docs/api.md 4.5). */
const VIDEO_TASK = taskSchema("VideoTask", ["error"]);
const EITHER_TASK: Schema = { anyOf: [IMAGE_TASK, VIDEO_TASK] };
export const LISTED_TASK_FIELDS: Properties = { kind: KIND };
/** One of `tasks` of a listing. */
export const LISTED_TASK = taskSchema("ListedTask", ["error_message", "error"], {
  fields: LISTED_TASK_FIELDS,
});

export const SEARCH_TEXT = text(
  "Tasks whose prompts have all of these words, in any order, whatever their case and accents. Characters of scripts without spaces side by side are one phrase. It has no operators. A page may then be shorter than `limit`, and not be the last: go on while there is a `next`. A new task is found within about a second.",
  { examples: ["lighthouse dusk"] },
);

const LIST_QUERY = optional({
  kind: text("Tasks of one kind.", { enum: ["image", "video"] }),
  status: text("Tasks with one status.", { enum: TASK_STATUSES }),
  model: text("Tasks of one model, by its id."),
  q: SEARCH_TEXT,
  limit: integer("Tasks in the page.", { minimum: 1, maximum: MAX_LIST_LIMIT, default: 20 }),
  after: text("`next` of the page before."),
});

const NOT_FOUND = "A task that is unknown, another account's, or of the other kind is not there.";

const WAIT = {
  type: "number",
  ...{ minimum: 0, default: 0 },
  description: `Seconds to wait for the end of the task. Above ${MAX_STATUS_WAIT_SEC} they count as ${MAX_STATUS_WAIT_SEC}, and \`Preference-Applied\` says so.`,
};
const WAIT_QUERY = optional({ wait: WAIT });

export const READ_IMAGE_TASK = readStatus("Images", "readImageTask", "Read an image task", IMAGE_TASK);
export const READ_VIDEO_TASK = readStatus("Videos", "readVideoTask", "Read a video task", VIDEO_TASK);

function readStatus(tag: "Images" | "Videos", id: string, summary: string, schema: Schema) {
  return contract(id, tag, summary, {
    description: `Answers at once, or with \`wait\` as soon as the task has ended. ${NOT_FOUND}`,
    path: { task_id: TASK_ID },
    query: WAIT_QUERY,
    answers: succeeds("The task as it stands.", schema, ["Preference-Applied"]),
    errors: ["invalid_request", "task_not_found", "rate_limit_exceeded"],
  });
}

export const LIST_TASKS = contract("listTasks", "Tasks", "List tasks, newest first", {
  query: LIST_QUERY,
  answers: succeeds(
    "One page.",
    closed({
      tasks: list(LISTED_TASK),
      next: nullable(text("Give as `after` for the next page; null on the last.")),
    }),
  ),
  errors: ["invalid_request"],
});

export const CANCEL_TASK = contract("cancelTask", "Tasks", "Cancel a task", {
  description: `A pending task is cancelled at once and costs nothing; of one under way the provider is told, and until it has said what came of it the task has \`cancel_requested\` and its status is still \`processing\`. ${NOT_FOUND}`,
  path: { task_id: TASK_ID },
  answers: succeeds("The task after the request.", EITHER_TASK),
  errors: ["invalid_request", "task_not_found", "task_not_cancellable"],
});

export const DELETE_TASK = contract("deleteTask", "Tasks", "Delete a task", {
  description: `Removes an ended task with its request, its files, its callback and its events. Its addresses answer 404 from then on, and its files are gone, except those that other tasks have too. What it was charged stays in the account's books. A callback that was still to be sent is not sent any more. Deleting it again succeeds. A task that has not ended is refused: cancel it first. ${NOT_FOUND}`,
  path: { task_id: TASK_ID },
  answers: succeeds(
    "It is gone.",
    closed({ task_id: TASK_ID, deleted: { const: true, description: "Always `true`." } }),
  ),
  errors: ["task_not_found", "task_not_deletable"],
});

/** An early version of an output, of a task whose request asked for some. */
const PREVIEW = component(
  "Preview",
  {
    task_id: TASK_ID,
    index: integer("Which of the early versions of its output, from 0.", {
      minimum: 0,
      maximum: MAX_PARTIAL_IMAGES - 1,
    }),
    output_index: integer("Place of the output in `result`, where the provider tells.", { minimum: 0 }),
    media_type: text("", { enum: ["image/png", "image/jpeg", "image/webp"] }),
    b64_json: text("The image as base64, without a `data:` prefix.", { contentEncoding: "base64" }),
  },
  { optional: ["output_index"] },
);

export const FOLLOW_TASK = contract("followTask", "Tasks", "Follow a task", {
  description: `Server-sent events: one at once, one for every change, and the last with the end of the task. The name of an event is the status, its data what the status endpoint has in \`data\`. Of a task made with \`partial_images\`, \`preview\` events show early versions of its outputs to whoever follows at that moment; they have no id, are not shown again, and a slow reader misses all but the latest. ${NOT_FOUND}`,
  path: { task_id: TASK_ID },
  headers: {
    "Last-Event-ID": text(
      "Id of the last event seen: what it said is not said again. Anything malformed is ignored.",
    ),
  },
  answers: {
    200: {
      description: "A stream that ends with the task.",
      events: {
        ...Object.fromEntries(TASK_STATUSES.map((status) => [status, EITHER_TASK])),
        preview: PREVIEW,
      },
    },
  },
  errors: ["invalid_request", "task_not_found"],
});
