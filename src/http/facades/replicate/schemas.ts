import { closed, component, list, nullable, type Schema, text } from "../../wire/schema.ts";
import { idOf } from "../../wire/values.ts";
import { PREDICTION_STATUS } from "./present.ts";
import { WEBHOOK_EVENTS } from "./read-request.ts";

const time = (description: string) => text(description, { format: "date-time" });
const address = (description: string) => text(description, { format: "uri" });
const object = (description: string): Schema => ({ type: "object", description });

export const PREDICTION_ID = idOf("task", "Id of the prediction, which is the id of its task.");
const VERSION_ID = text("64 hexadecimal digits, which change when what the model takes does.", {
  pattern: "^[0-9a-f]{64}$",
});

/** A task as clients of that API read it. */
export const PREDICTION = component(
  "ReplicatePrediction",
  {
    id: PREDICTION_ID,
    model: text("`svc/` and the id of the model."),
    version: text("The version of the model, or `hidden` where the model is gone."),
    input: object("What was asked for, by the model's own names; files by their addresses here."),
    logs: text("How far it is, as a progress bar; then why it failed."),
    output: {
      description: "The address of what was made, or a list of them where the model can make several images.",
      anyOf: [address("The one file."), list(address("")), { type: "null" }],
    },
    data_removed: { type: "boolean", description: "Whether its files were removed." },
    error: nullable(text("Why it failed.")),
    source: text("", { const: "api" }),
    status: text("", { enum: Object.values(PREDICTION_STATUS) }),
    created_at: time("When the task was accepted."),
    started_at: time("When it was first submitted."),
    completed_at: time("When it ended."),
    deadline: time("When it is cancelled, where `Cancel-After` said so."),
    metrics: closed(
      {
        predict_time: { type: "number", description: "Seconds from its start to its end." },
        total_time: { type: "number", description: "Seconds from its create to its end." },
      },
      { optional: ["predict_time"] },
    ),
    urls: closed({
      get: address("Where it is read."),
      cancel: address("Where it is cancelled."),
      stream: address("Where its events are read, without a key, for a day."),
      web: address("Its page in the console."),
    }),
  },
  { optional: ["started_at", "completed_at", "deadline", "metrics"] },
);

/** Bodies here are open: fields that mean nothing are ignored. */
const open = (properties: Readonly<Record<string, Schema>>, required: readonly string[]): Schema => ({
  type: "object",
  required,
  properties,
  additionalProperties: true,
});

const REQUEST = {
  input: object(
    "What the model takes, by its own names, by those that Replicate has for it, or by names that many APIs have.",
  ),
  webhook: nullable(text("Is told of the prediction.")),
  webhook_events_filter: nullable(
    list(text("", { enum: WEBHOOK_EVENTS }), {
      description: "What is told; `output` and `completed` unless given.",
    }),
  ),
};

export const CREATE_MODEL_BODY: Schema = {
  title: "CreateReplicateModelPrediction",
  examples: [{ input: { prompt: "A lighthouse at dusk" } }],
  ...open(REQUEST, ["input"]),
};

export const CREATE_BODY: Schema = {
  title: "CreateReplicatePrediction",
  examples: [{ version: "svc/sandbox-image", input: { prompt: "A lighthouse at dusk" } }],
  ...open(
    {
      version: nullable(text("`owner/name`, `owner/name:version`, or a version alone.")),
      model: nullable(text("The same, where there is no `version`.")),
      ...REQUEST,
    },
    ["input"],
  ),
};

/** A page of a list, as that API has it. */
export const pageSchema = (items: Schema): Schema =>
  closed({
    previous: nullable(address("The page before.")),
    next: nullable(address("The next page.")),
    results: list(items),
  });

/** Clients for Python read no version without one. From this one on, schemas say which lists of outputs come one by one. */
export const COG_VERSION = "0.3.9";

export const VERSION = component("ReplicateVersion", {
  id: VERSION_ID,
  created_at: time("When this service began to run."),
  cog_version: text("The version of Cog whose schemas these are like.", { const: COG_VERSION }),
  openapi_schema: object("`components.schemas` has `Input` and `Output` of the model."),
});

export const MODEL = component("ReplicateModel", {
  url: address("Its page in the console."),
  owner: text("`svc`, or the owner that it was asked for by."),
  name: text("Its id, or the name that it was asked for by."),
  description: text("What it does."),
  visibility: text("", { const: "public" }),
  is_official: { type: "boolean", description: "Always `true`: it can be asked for without a version." },
  run_count: { type: "integer", description: "Not counted." },
  ...Object.fromEntries(
    ["github_url", "paper_url", "license_url", "cover_image_url", "default_example"].map((name) => [
      name,
      { type: "null", description: "There is none." },
    ]),
  ),
  latest_version: VERSION,
});

export const DEPLOYMENT = component("ReplicateDeployment", {
  owner: text("The owner that it was asked for by."),
  name: text("The name that it was asked for by."),
  current_release: closed({
    number: { type: "integer", description: "Always 1." },
    model: text("`svc/` and the id of the model."),
    version: text("The version of the model."),
    created_at: time("When this service began to run."),
    created_by: { type: "null", description: "Not told." },
    configuration: closed({
      hardware: text("The one that there is."),
      min_instances: { type: "integer", description: "Always 0." },
      max_instances: {
        type: "integer",
        description: "Always 1: what is made at once is the provider's matter.",
      },
    }),
  }),
});

const COLLECTION_FIELDS = {
  name: text("For people."),
  slug: text("A mode of models, `text-to-image` say."),
  description: text("The models that have it."),
};
export const COLLECTION = component("ReplicateCollection", COLLECTION_FIELDS);
export const FULL_COLLECTION = component("ReplicateCollectionInFull", {
  ...COLLECTION_FIELDS,
  models: list(MODEL),
});

export const FILE = component("ReplicateFile", {
  id: idOf("file", "Id of the file."),
  name: text("As it was given as `filename`, or else its id with an ending."),
  content_type: text("By its content."),
  size: { type: "integer", minimum: 0, description: "Bytes." },
  etag: text("Names the content."),
  checksums: closed({ sha256: text("Of what is stored.") }),
  metadata: object("What was given with the upload; its answer alone has it."),
  created_at: time("When it was uploaded."),
  expires_at: time("When it goes."),
  urls: closed({ get: address("Where it is read, and what stands for it in inputs.") }),
});

export const ACCOUNT = closed({
  type: text("", { const: "organization" }),
  username: text("The account's name."),
  name: text("The same."),
  github_url: { type: "null", description: "There is none." },
});
export const HARDWARE = list(closed({ name: text("For people."), sku: text("Its name.") }));
export const SECRET = closed({ key: text("What webhooks of the caller's key are signed with.") });
