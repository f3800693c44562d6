import { MAX_LIST_LIMIT } from "../../../domain/limits.ts";
import type { FollowUp } from "../../../domain/model/follow-up.ts";
import { RELATIONS } from "../../../domain/task/lineage.ts";
import { TASK_STATUSES } from "../../../domain/task/task.ts";
import type { FamilyQuery } from "../../../service/read-family.ts";
import { MAX_VARIATIONS } from "../../../service/vary-task.ts";
import { contract, jsonBody, succeeds } from "../../openapi/contract.ts";
import { ROUTING_HEADERS } from "../../routing.ts";
import { checkQuery } from "../../wire/check.ts";
import {
  closed,
  component,
  flag,
  integer,
  list,
  nullable,
  openEnum,
  optional,
  type Schema,
  text,
} from "../../wire/schema.ts";
import { unixSeconds } from "../../wire/values.ts";
import { TASK_ID } from "../wire.ts";

const NODE = component(
  "FamilyTask",
  {
    task_id: TASK_ID,
    parent_id: nullable({ ...TASK_ID, description: "The task that it was made from; null for none." }),
    relation: nullable(openEnum(RELATIONS, "How it was made from that one.")),
    deleted: flag("Whether it was deleted. Then nothing else is known of it."),
    kind: text("", { enum: ["image", "video"] }),
    model: text("Id of the model."),
    status: text("", { enum: TASK_STATUSES }),
    created_at: unixSeconds("When it was accepted."),
    completed_at: unixSeconds("When it ended."),
    result: list(text("", { format: "uri" }), {
      description: "URLs of what was made, while the files are there. With `completed` only.",
    }),
    thumbnails: list(text("", { format: "uri" }), { description: "Of each of them, a smaller picture." }),
  },
  {
    optional: [...["kind", "model", "status", "created_at", "completed_at", "result", "thumbnails"]],
  },
);

const TREE_QUERY: Schema = optional({
  limit: integer("Tasks in the page.", { minimum: 1, maximum: MAX_LIST_LIMIT, default: 100 }),
  after: text("`next` of the page before."),
});

const FAMILY = closed({
  tasks: list(NODE),
  next: nullable(text("Give as `after` for the next page; null on the last.")),
});

/** The fields of every answer with a family, and the parameters of its pages. */
export const FAMILY_PAGE = { query: TREE_QUERY, answer: FAMILY } as const;

/** @throws AppError `invalid_request` */
export function familyQueryOf(query: URLSearchParams): FamilyQuery {
  // The schema has checked that it is of this type.
  return { limit: 100, ...(checkQuery(TREE_QUERY, query) as Partial<FamilyQuery>) };
}

export const READ_TREE = contract("readTaskTree", "Tasks", "Read a task's family", {
  description:
    "The task that a family began with, and all that was made from it by retry, remix, variations, extend and upscale, and from those, within the account: the oldest first, so that most tasks come after what they were made from. Whichever of them is asked for, the family is the same. Of a deleted task its id stays as long as something was made from it; beyond the limit of a page, it has those that are deleted for so long that nothing else is known.",
  path: { task_id: TASK_ID },
  query: TREE_QUERY,
  answers: succeeds("One page.", FAMILY),
  errors: ["invalid_request", "task_not_found"],
});

const NOT_FOUND = "A task of another account is not there.";
const CREATE_HEADERS = ["X-Request-Cost", "X-Idempotent-Replay"] as const;
const CREATE_ERRORS = [
  ...(["invalid_request", "task_not_found", "insufficient_quota", "permission_denied"] as const),
  ...(["model_not_available", "content_policy_violation", "moderation_unavailable", "disk_low"] as const),
];

export const VARIATIONS: Schema = {
  title: "VaryTask",
  ...optional(
    { count: integer("How many.", { minimum: 1, maximum: MAX_VARIATIONS, default: 1 }) },
    { additionalProperties: false },
  ),
};

export const VARY_TASK = contract("varyTask", "Tasks", "Make variations of a task", {
  description: `Makes tasks with the same request and other seeds, each with a price and an end of its own. They are accepted one after the other; where one is refused, those before it stay, and \`refused\` says why there are no more. With an \`Idempotency-Key\`, the same request again makes those that are missing. A model without \`seed\` is refused. The body may be left out. ${NOT_FOUND}`,
  path: { task_id: TASK_ID },
  body: jsonBody(VARIATIONS),
  isBodyOptional: true,
  headers: ROUTING_HEADERS,
  isIdempotent: true,
  answers: succeeds(
    "At least one is accepted.",
    closed({
      task_ids: list(TASK_ID),
      variation_of: TASK_ID,
      refused: nullable(
        closed({
          count: integer("How many are missing.", { minimum: 1 }),
          error_code: text("As of a create that is refused."),
          message: text("The same for people."),
        }),
      ),
    }),
    CREATE_HEADERS,
  ),
  errors: CREATE_ERRORS,
});

const FOLLOWED_UP = closed({
  task_id: TASK_ID,
  parent_id: { ...TASK_ID, description: "The task whose result it is made of." },
  model: nullable(text("Id of the model that makes it; null where a repeated request made a deleted task.")),
});

const followUp = (name: FollowUp, summary: string, description: string) => {
  const schema: Schema = {
    title: `${name === "extend" ? "Extend" : "Upscale"}Task`,
    type: "object",
    properties: {
      model: text("Id or alias of a model that can.", { minLength: 1 }),
      index: integer("Which result of the task, from 0.", { minimum: 0, default: 0 }),
    },
    additionalProperties: true,
  };
  const more =
    "Other fields are the model's own; the task's prompt goes along where it takes one and none is given. The body may be left out.";
  return {
    schema,
    contract: contract(`${name}Task`, "Tasks", summary, {
      description: `${description} ${more} ${NOT_FOUND}`,
      path: { task_id: TASK_ID },
      body: jsonBody(schema),
      isBodyOptional: true,
      headers: ROUTING_HEADERS,
      isIdempotent: true,
      answers: succeeds("The task is accepted.", FOLLOWED_UP, CREATE_HEADERS),
      errors: CREATE_ERRORS,
    }),
  };
};

export const FOLLOW_UP = {
  extend: followUp(
    "extend",
    "Extend a video",
    "Makes a task that goes on where a video of a completed task ends: by the same model, or by `model` where that one cannot. Models that can have `extend` in `follow_ups`.",
  ),
  upscale: followUp(
    "upscale",
    "Make a result larger",
    "Makes a task that enlarges an image or a video of a completed task: by `model`, by the same model where it can, or by the cheapest that can. Models that can have `upscale` in `follow_ups`. What the sandbox made is enlarged by the sandbox, and nothing else is unless `model` says so.",
  ),
} as const satisfies Record<FollowUp, object>;
