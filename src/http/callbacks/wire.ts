import { CALLBACK_STATES } from "../../domain/callback/callback.ts";
import { MAX_FORM_ATTEMPTS, MAX_LIST_LIMIT } from "../../domain/limits.ts";
import { MAX_REDELIVERIES } from "../../service/redeliver-callbacks.ts";
import { CALLBACK } from "../generations/wire.ts";
import { GROUP_CALLBACK } from "../groups/wire.ts";
import { contract, type EndpointContract, jsonBody, succeeds } from "../openapi/contract.ts";
import { TASK_ID } from "../tasks/wire.ts";
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
} from "../wire/schema.ts";
import { idOf } from "../wire/values.ts";

export const CALLBACK_ID = idOf("cb", "Id of the callback.");
const STATE = text("Whether it was acknowledged, may still be, or is given up.", { enum: CALLBACK_STATES });
const time = (description: string) => text(`${description} ISO 8601, UTC.`, { format: "date-time" });

/** What everybody sees of a callback. */
export const SHARED_FIELDS = {
  id: CALLBACK_ID,
  task_id: { ...TASK_ID, description: "The task it tells of; of a group's, the task that ended last." },
  request_id: text("`X-Request-ID` of the task's create."),
  state: STATE,
  attempts: integer("Attempts begun so far; redeliveries are not counted.", {
    minimum: 0,
    maximum: MAX_FORM_ATTEMPTS,
  }),
  max_attempts: integer("Attempts it gets at most.", { minimum: 1, maximum: MAX_FORM_ATTEMPTS }),
  next_attempt_at: nullable(
    time("When the next attempt is due, or the one under way counts as lost. While `pending` only."),
  ),
  redelivery_due: flag("Whether one more send was asked for and has not begun."),
  created_at: time("When the task ended."),
};

const FIELDS = { ...SHARED_FIELDS, url: text("Where it goes.") };

const CALLBACK_RECORD = component("Callback", FIELDS);

const OUTCOMES = ["delivered", "refused", "unreachable", "forbidden", "interrupted"];

const SEND = closed({
  sequence: integer("From 1, attempts and redeliveries together.", { minimum: 1 }),
  kind: openEnum(["attempt", "redelivery"], "Whether it counts as an attempt."),
  started_at: time("When it began."),
  ended_at: nullable(time("When it was over; null while it is under way.")),
  duration_ms: nullable(integer("How long it took.", { minimum: 0 })),
  outcome: nullable(
    openEnum(
      OUTCOMES,
      "`delivered`: acknowledged. `refused`: answered with another status than 2xx. `unreachable`: no answer. `forbidden`: the address may not be called. `interrupted`: the service stopped meanwhile; it may have arrived.",
    ),
  ),
  status: nullable(integer("HTTP status of the answer.")),
  address: nullable(text("IP address it was sent to. Never that of a `forbidden` one.")),
  answer: nullable(text("How the answer's body begins.")),
  error: nullable(text("Why there was no answer.")),
});

/** What an answer with one callback contains in addition to a list. */
export const REST_FIELDS = {
  payload: {
    anyOf: [
      CALLBACK,
      GROUP_CALLBACK,
      { type: "object", description: "Of a task that came by another API: as that API has it." },
    ],
  },
  history: list(SEND, { description: "Every send, in order." }),
};

const CALLBACK_IN_FULL = component("CallbackInFull", { ...FIELDS, ...REST_FIELDS });

export const pageOf = (record: Schema) =>
  closed({
    callbacks: list(record),
    next: nullable(text("Give as `after` for the next page; null on the last.")),
  });
const CALLBACK_PAGE = pageOf(CALLBACK_RECORD);

const FROM = "Created then or later: ISO 8601, such as 2026-11-21T14:00:00Z, or Unix seconds.";
const TO = "Created before: ISO 8601 or Unix seconds.";
const AFTER = text("`next` of the page before.");

export const QUERY_FIELDS = {
  state: text("Callbacks in one state.", { enum: CALLBACK_STATES }),
  task_id: text("Those of one task: one, unless it came by another API."),
  from: text(FROM),
  to: text(TO),
  limit: integer("Callbacks in the page.", { minimum: 1, maximum: MAX_LIST_LIMIT, default: 20 }),
  after: AFTER,
};
export const CALLBACK_QUERY = optional(QUERY_FIELDS);

const moment = (description: string): Schema => ({ type: ["string", "number"], description });

/** The service checks which fields go together. */
export const REDELIVERY_FIELDS = {
  task_id: text("The callback of this task; goes with no other field."),
  from: moment(FROM),
  to: moment(TO),
  state: text("Callbacks in one state.", { enum: CALLBACK_STATES }),
  after: AFTER,
};
export const REDELIVERY: Schema = {
  title: "RedeliverCallbacks",
  examples: [{ from: "2026-11-21T14:00:00Z", state: "failed" }],
  ...optional(REDELIVERY_FIELDS),
};

export const LIST_CALLBACKS = contract("listCallbacks", "Callbacks", "List callbacks, newest first", {
  description:
    "There is one for every task that had a `callback_url` and completed or failed, and for every group that had one and is over.",
  query: CALLBACK_QUERY,
  answers: succeeds("One page.", CALLBACK_PAGE),
  errors: ["invalid_request"],
});

export const READ_CALLBACK: EndpointContract = {
  id: "readCallback",
  tag: "Callbacks",
  summary: "Read a callback, what it says and how each send went",
  path: { callback_id: CALLBACK_ID },
  answers: succeeds("The callback.", CALLBACK_IN_FULL),
  errors: ["not_found"],
};

export const AGAIN =
  "Redeliveries are sent at once, leave the five attempts alone, and are not tried again. One callback has one redelivery to come at most: asking again before that begins changes nothing, and it can be redelivered 100 times in all. The call counts towards the requests that the key may make in a minute.";

export const REDELIVER_CALLBACK = contract("redeliverCallback", "Callbacks", "Send a callback once more", {
  description: `${AGAIN} It is \`delivered\` once any send was acknowledged.`,
  path: { callback_id: CALLBACK_ID },
  answers: succeeds("The callback, to be sent.", CALLBACK_RECORD),
  errors: ["not_found", "invalid_request"],
});

export const REDELIVER_CALLBACKS: EndpointContract = {
  id: "redeliverCallbacks",
  tag: "Callbacks",
  summary: "Send the callbacks of a task, or of a range of time, once more",
  description: `Either \`task_id\` alone, or \`from\` with or without \`to\`, \`state\` and \`after\`. Newest first, ${MAX_REDELIVERIES} in one call at most. ${AGAIN}`,
  body: jsonBody(REDELIVERY),
  answers: succeeds("Those that are sent.", CALLBACK_PAGE),
};
