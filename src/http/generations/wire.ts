import type { TaskKind } from "../../domain/task/request.ts";
import { contract, jsonBody, succeeds } from "../openapi/contract.ts";
import { ROUTING_HEADERS } from "../routing.ts";
import { RESULT_ISSUES, TASK_ID } from "../tasks/wire.ts";
import { TASK_ERROR_CODE } from "../wire/errors.ts";
import { closed, component, list, type Schema, text } from "../wire/schema.ts";

/**
 * The body of a create, to be one of the models' own schemas: the document puts them in the place of the components with these
 * titles.
 */
export const CREATE_BODY: Readonly<Record<TaskKind, Schema>> = {
  image: { title: "CreateImageTask", type: "object" },
  video: { title: "CreateVideoTask", type: "object" },
};

/** What a callback says of a task's outcome, where there is such. */
export const TOLD_OUTCOME = {
  result: list(text("", { format: "uri" }), {
    description: "URLs of what was made. With `completed` only.",
  }),
  result_issues: RESULT_ISSUES,
  error: text("What went wrong, safe to show. With `failed` only."),
  error_code: TASK_ERROR_CODE,
};

/** What a callback says (docs/api.md 6.1). */
export const CALLBACK = component(
  "TaskCallback",
  {
    task_id: TASK_ID,
    request_id: text("`X-Request-ID` of the create."),
    status: text("Branch on this.", { enum: ["completed", "failed"] }),
    ...TOLD_OUTCOME,
    created_at: text("ISO 8601, UTC.", { format: "date-time" }),
    completed_at: text("ISO 8601, UTC.", { format: "date-time" }),
  },
  { optional: Object.keys(TOLD_OUTCOME) },
);

export const CALLBACK_RULES = [
  "It has `User-Agent: Service-Callback/1.0`. Any 2xx acknowledges it;",
  "anything else is tried again, up to five times in total, with growing delays. It may arrive more than once. A key can have",
  "its callbacks signed, which is off by default: each then carries `webhook-id`, `webhook-timestamp` and `webhook-signature`",
  "(Standard Webhooks). Without a signature, use HTTPS and an unguessable path, and read the task again before irreversible",
  "actions.",
].join(" ");

const HEADERS = ["X-Request-Cost", "X-Idempotent-Replay"] as const;
export const CREATE_IMAGE = create("image", "createImageTask", "Create an image task");
export const CREATE_VIDEO = create("video", "createVideoTask", "Create a video task");

function create(kind: TaskKind, id: string, summary: string) {
  return contract(id, kind === "image" ? "Images" : "Videos", summary, {
    description:
      "Accepted means that the task will be worked on, not that it is done: read its status, follow its events or give a `callback_url`. The amount held is in `X-Request-Cost`. Each model has its own fields; those it does not have are refused.",
    body: jsonBody(CREATE_BODY[kind]),
    headers: ROUTING_HEADERS,
    isIdempotent: true,
    answers: succeeds("The task is accepted.", closed({ task_id: TASK_ID }), HEADERS),
    errors: [
      ...(["insufficient_quota", "permission_denied", "model_not_available", "task_not_found"] as const),
      ...(["rate_limit_exceeded", "content_policy_violation", "moderation_unavailable", "disk_low"] as const),
    ],
    callback: {
      name: "taskEnded",
      address: "{$request.body#/callback_url}",
      description: `Sent when the task reaches \`completed\` or \`failed\`. ${CALLBACK_RULES}`,
      schema: CALLBACK,
    },
  });
}
