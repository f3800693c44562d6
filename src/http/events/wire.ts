import { TASK_STATUSES } from "../../domain/task/task.ts";
import { contract, type EndpointContract } from "../openapi/contract.ts";
import { LISTED_TASK, TASK_ID } from "../tasks/wire.ts";
import { closed, nullable, text } from "../wire/schema.ts";
import { idOf } from "../wire/values.ts";

const LISTENED = closed({
  task_id: TASK_ID,
  callback_id: nullable(idOf("cb", "Id of the callback; null for a task without `callback_url`.")),
  url: nullable(text("The task's `callback_url`.")),
  headers: closed(
    {
      "Content-Type": text("Always `application/json`."),
      "User-Agent": text("Always `Service-Callback/1.0`."),
      "webhook-id": text("Of a key that signs: the same for every send."),
      "webhook-timestamp": text("Of a key that signs."),
      "webhook-signature": text("Of a key that signs."),
    },
    { optional: ["webhook-id", "webhook-timestamp", "webhook-signature"], description: "Those of the POST." },
  ),
  body: text("The body of the POST, to the byte."),
});

export const LAST_EVENT_ID = {
  "Last-Event-ID": text(
    "Id of the last event seen: everything since is told first. `0` tells everything; absent, the stream begins now. A number that is yet to come counts as the latest.",
    { pattern: "^[0-9]*$" },
  ),
};
export const ENDLESS =
  "The stream goes on until the client leaves or the service stops; what comes next is told as it happens, and a comment every 15 seconds when nothing does. It begins with an id without an event, so that a client which comes back misses nothing. A client that stops reading is cut off after some minutes. When the credential stops being valid, the last event is an `error` that says so.";

export const FOLLOW_CALLBACKS: EndpointContract = {
  id: "followCallbacks",
  tag: "Callbacks",
  summary: "Follow what is posted for the tasks of this key",
  description: `Server-sent events: one \`callback\` for every task this key created that completed or failed, whether or not it had a \`callback_url\`, with the headers and the body of its POST. Redeliveries asked for meanwhile come too, without an id. ${ENDLESS}`,
  headers: LAST_EVENT_ID,
  answers: { 200: { description: "A stream without an end.", events: { callback: LISTENED } } },
  errors: ["invalid_request"],
};

export const FOLLOW_TASKS = contract("followTasks", "Tasks", "Follow all tasks of the account", {
  description: `Server-sent events: one for every change of a task's status or progress, by the name of its status, with what the list of tasks has of it. Each task is told as it stands, so states that follow one another closely may be told as the last of them. ${ENDLESS}`,
  headers: LAST_EVENT_ID,
  answers: {
    200: {
      description: "A stream without an end.",
      events: Object.fromEntries(TASK_STATUSES.map((status) => [status, LISTED_TASK])),
    },
  },
  errors: ["invalid_request"],
});
