import { contract, jsonAnswer, jsonBody } from "../../../openapi/contract.ts";
import { ROUTING_HEADERS } from "../../../routing.ts";
import { TASK_ID } from "../../../tasks/wire.ts";
import { closed, optional, text } from "../../../wire/schema.ts";
import { GEMINI } from "../manners.ts";
import { MADE_HEADERS, WAIT_ERRORS } from "../wire.ts";
import { CREATE_INTERACTION_BODY, INTERACTION, INTERACTION_EVENTS } from "./schemas.ts";

const TAG = "Gemini";
const PATH = { interaction: { ...TASK_ID, description: "Id of the task." } };

export const CREATE_INTERACTION = contract("geminiCreateInteraction", TAG, "Make pictures or a video", {
  description:
    "Google's Interactions API. Pictures are waited for, unless they are made in the background; of a video, the answer is a task to poll. A task that fails is an interaction with `errors`. The same request for pictures, sent again after a lost connection, joins its task.",
  headers: ROUTING_HEADERS,
  isIdempotent: true,
  body: jsonBody(CREATE_INTERACTION_BODY),
  answers: {
    200: {
      ...jsonAnswer("The interaction; with `stream`, its events.", INTERACTION, MADE_HEADERS),
      // A caller whose key is revoked meanwhile is told so without a name.
      events: { ...INTERACTION_EVENTS, message: GEMINI.schema },
    },
  },
  errors: [...WAIT_ERRORS, "task_not_found", "content_policy_violation"],
});

export const READ_INTERACTION = contract("geminiReadInteraction", TAG, "Read an interaction", {
  description:
    "Any task of the account, whichever API it came by. Results have their addresses; pictures, and videos of up to 4 MiB, their content too.",
  path: PATH,
  query: optional({ stream: text("Not `true`.") }),
  answers: { 200: jsonAnswer("The interaction as it stands.", INTERACTION, ["X-Request-Cost"]) },
  errors: ["invalid_request", "task_not_found"],
});

export const CANCEL_INTERACTION = contract("geminiCancelInteraction", TAG, "Cancel an interaction", {
  description:
    "Cancels its task. One that is under way is cancelled at its provider first, and may end later.",
  path: PATH,
  answers: { 200: jsonAnswer("It is asked for.", INTERACTION, ["X-Request-Cost"]) },
  errors: ["task_not_found", "task_not_cancellable"],
});

export const DELETE_INTERACTION = contract("geminiDeleteInteraction", TAG, "Delete an interaction", {
  description: "Its task, once it has ended, with its files.",
  path: PATH,
  answers: { 200: jsonAnswer("It is gone.", closed({})) },
  errors: ["task_not_found", "task_not_deletable"],
});
