import { contract, jsonAnswer, jsonBody } from "../../openapi/contract.ts";
import { ROUTING_HEADERS } from "../../routing.ts";
import { optional, text } from "../../wire/schema.ts";
import {
  ACCOUNT,
  COLLECTION,
  CREATE_BODY,
  CREATE_MODEL_BODY,
  DEPLOYMENT,
  FULL_COLLECTION,
  HARDWARE,
  MODEL,
  PREDICTION,
  PREDICTION_ID,
  pageSchema,
  SECRET,
  VERSION,
} from "./schemas.ts";

const TAG = "Replicate predictions";

const OWNED = {
  owner: text("`svc`, the owner that Replicate has for the model, or the part of an alias before its slash."),
  name: text("The model's id, Replicate's name for it, or an alias."),
};
const CREATED = ["X-Request-Cost", "X-Idempotent-Replay"] as const;
const CREATE_ERRORS = [
  ...([
    "invalid_request",
    "insufficient_quota",
    "permission_denied",
    "model_not_available",
    "model_not_found",
  ] as const),
  ...(["task_not_found", "rate_limit_exceeded", "content_policy_violation"] as const),
  ...(["moderation_unavailable", "disk_low"] as const),
];

const CREATES = {
  headers: {
    ...ROUTING_HEADERS,
    Prefer: text(
      "`wait` or `wait=N`: answers when the prediction has ended, or after N seconds, 60 at most.",
      {
        examples: ["wait=10"],
      },
    ),
    "Cancel-After": text("How long it may take from its create, 5 seconds at least. Then it is cancelled.", {
      examples: ["5m"],
    }),
  },
  isIdempotent: true,
  answers: {
    201: jsonAnswer(
      "The prediction: to be made, or where the caller waited for it, ended.",
      PREDICTION,
      CREATED,
    ),
    202: jsonAnswer(
      "The caller waited, and it goes on. Its status is `starting`, as clients expect then.",
      PREDICTION,
      CREATED,
    ),
  },
  errors: CREATE_ERRORS,
};

export const CREATE_PREDICTION = contract("createReplicatePrediction", TAG, "Create a prediction", {
  ...CREATES,
  description:
    "Makes a task, as the generations endpoints do. Where a caller leaves before it is answered and the same request comes again, that joins the task, unless it has an idempotency key.",
  body: jsonBody(CREATE_BODY),
});

export const CREATE_MODEL_PREDICTION = contract(
  "createReplicateModelPrediction",
  TAG,
  "Create a prediction of a model",
  { ...CREATES, path: OWNED, body: jsonBody(CREATE_MODEL_BODY) },
);

export const CREATE_DEPLOYMENT_PREDICTION = contract(
  "createReplicateDeploymentPrediction",
  TAG,
  "Create a prediction of a deployment",
  {
    ...{ ...CREATES, path: OWNED, body: jsonBody(CREATE_MODEL_BODY) },
    description: "A deployment is a model, by the same names.",
  },
);

const PREDICTION_PATH = { prediction_id: PREDICTION_ID };
const COST = ["X-Request-Cost"] as const;
const NOT_FOUND = "Any task of the account is found, however it was created.";

export const READ_PREDICTION = contract("readReplicatePrediction", TAG, "Read a prediction", {
  description: NOT_FOUND,
  path: PREDICTION_PATH,
  answers: { 200: jsonAnswer("The prediction as it stands.", PREDICTION, COST) },
  errors: ["task_not_found"],
});

export const CANCEL_PREDICTION = contract("cancelReplicatePrediction", TAG, "Cancel a prediction", {
  description: `One that has ended stays as it is. ${NOT_FOUND}`,
  path: PREDICTION_PATH,
  answers: { 200: jsonAnswer("The prediction as it stands; one under way ends soon.", PREDICTION, COST) },
  errors: ["task_not_found"],
});

const CURSOR = { type: "object", properties: { cursor: text("From `next` or `previous`.") } };

export const LIST_PREDICTIONS = contract("listReplicatePredictions", TAG, "List predictions", {
  description: "The account's tasks, the newest first, however they were created.",
  query: {
    ...CURSOR,
    properties: {
      ...CURSOR.properties,
      created_after: text("Those that were created at this time, or later.", { format: "date-time" }),
      created_before: text("Those that were created before this time.", { format: "date-time" }),
      source: text("Those that people made on that API's pages, which are none here.", { const: "web" }),
    },
  },
  answers: { 200: jsonAnswer("One page, of 100.", pageSchema(PREDICTION)) },
  errors: ["invalid_request"],
});

export const STREAM_PREDICTION = contract("streamReplicatePrediction", TAG, "Follow a prediction", {
  description: "The signed address that `urls.stream` has. It is the permission, for a day from the create.",
  path: { prediction: text("Names the prediction, and is signed.") },
  answers: {
    200: {
      description: "A stream that ends with the prediction.",
      events: {
        logs: text("How far it is, as `logs` of the prediction."),
        output: text("The address of a file. Not JSON."),
        error: text("Why it failed. Not JSON."),
        done: optional({ reason: text("`error` or `canceled`, where it did not succeed.") }),
      },
    },
  },
  errors: ["task_not_found", "rate_limit_exceeded", "service_unavailable"],
});

const MODEL_ERRORS = ["invalid_request", "model_not_available", "permission_denied"] as const;

export const LIST_OWNED_MODELS = contract("listReplicateModels", TAG, "List models", {
  description: "With the method `QUERY` and words as its text, those models that have all of them.",
  query: CURSOR,
  answers: { 200: jsonAnswer("One page, of 25.", pageSchema(MODEL)) },
  errors: ["invalid_request"],
});

export const READ_OWNED_MODEL = contract("readReplicateModel", TAG, "Read a model", {
  path: OWNED,
  answers: { 200: jsonAnswer("The model, with its schema.", MODEL) },
  errors: MODEL_ERRORS,
});

export const READ_DEPLOYMENT = contract("readReplicateDeployment", TAG, "Read a deployment", {
  description: "Every model is one, by the same names; an alias has the name that programs know.",
  path: OWNED,
  answers: { 200: jsonAnswer("The model, as a deployment with one release.", DEPLOYMENT) },
  errors: MODEL_ERRORS,
});

export const LIST_VERSIONS = contract("listReplicateVersions", TAG, "List the versions of a model", {
  description: "A model has one: as it is defined now.",
  path: OWNED,
  answers: { 200: jsonAnswer("All of them.", pageSchema(VERSION)) },
  errors: MODEL_ERRORS,
});

export const READ_VERSION = contract("readReplicateVersion", TAG, "Read a version of a model", {
  path: { ...OWNED, version: text("Its id.") },
  answers: { 200: jsonAnswer("The version, with its schema.", VERSION) },
  errors: [...MODEL_ERRORS, "not_found"],
});

export const LIST_COLLECTIONS = contract("listReplicateCollections", TAG, "List collections", {
  description: "The modes of the models that the key may use.",
  answers: { 200: jsonAnswer("All of them.", pageSchema(COLLECTION)) },
});

export const READ_COLLECTION = contract("readReplicateCollection", TAG, "Read a collection", {
  path: { slug: text("A mode, `text-to-video` say.") },
  answers: { 200: jsonAnswer("The collection, with its models.", FULL_COLLECTION) },
  errors: ["not_found"],
});

export const READ_OWNER = contract("readReplicateAccount", TAG, "Read the account", {
  answers: { 200: jsonAnswer("The account of the key.", ACCOUNT) },
});

export const LIST_HARDWARE = contract("listReplicateHardware", TAG, "List hardware", {
  description: "Where a task is made is its provider's matter, so that there is one entry.",
  answers: { 200: jsonAnswer("All of it.", HARDWARE) },
});

export const READ_WEBHOOK_SECRET = contract(
  "readReplicateWebhookSecret",
  TAG,
  "Read the secret of webhooks",
  {
    description: "The secret of the key's callbacks where it has one, or else one of its account's own.",
    answers: { 200: jsonAnswer("The secret.", SECRET) },
  },
);
