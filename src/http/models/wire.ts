import { MEDIA_KINDS } from "../../domain/media/asset.ts";
import { FOLLOW_UPS } from "../../domain/model/follow-up.ts";
import { PRICE_UNITS, UNITS } from "../../domain/money/price-units.ts";
import { INPUT_ROLES } from "../../domain/task/request.ts";
import { contract, type EndpointContract, succeeds } from "../openapi/contract.ts";
import { closed, component, flag, integer, list, openEnum, type Schema, text } from "../wire/schema.ts";
import { STANDING_OF_ACCOUNT } from "../wire/standing.ts";
import { amount, CURRENCY_SCHEMA, unixSeconds } from "../wire/values.ts";

export const MODEL_ID = text("Id of a model, or an alias of one.");

/** The factor of every line of a price, and of its minimum. */
export const MULTIPLIER = text(
  "What every line, and the minimum, is charged times for this API key; 1 where absent.",
  {
    pattern: "^[0-9]+(\\.[0-9]{1,6})?$",
    examples: ["1.25"],
  },
);

/** Units that the amount of a line pays for. */
export const PER = integer("Units that one such amount is for; 1 where absent.", { minimum: 1 });

const COUNTED = Object.values(UNITS).map(({ counts }) => counts);
const PRICE_LINE = closed(
  {
    sku: text("What is sold."),
    unit: openEnum(PRICE_UNITS, `What is counted: ${COUNTED.join(", ")}.`),
    amount: amount("Price of one unit, or of `per` units."),
    per: PER,
    most: integer(
      "Units of an output that are held where the request does not tell; charged is what it has.",
      { minimum: 1 },
    ),
    when: {
      type: "object",
      description:
        "The parameters a request must have for this line to apply; of a list, any. `mode` is the mode of the request, unless the model has a parameter of that name. A request is charged for every line that applies.",
      additionalProperties: true,
    },
  },
  { optional: ["per", "most", "when"] },
);

const RULE = {
  version: text("Changes with the prices; a task keeps those it was accepted with."),
  lines: list(PRICE_LINE),
  minimum: amount("The least a task costs that delivers anything."),
};
/** A price rule by itself. */
export const PRICE_RULE = component("PriceRule", RULE, { optional: ["minimum"] });

const PRICE = component(
  "ModelPrice",
  { currency: CURRENCY_SCHEMA, ...RULE, multiplier: MULTIPLIER },
  { optional: ["minimum", "multiplier"] },
);

export const MODELS_QUERY: Schema = {
  type: "object",
  properties: {
    all: flag(
      "Whether models are told of too that no provider makes at present; they have `available: false`.",
    ),
  },
};

/** Fields of a model in every list. */
const MODEL_FIELDS = {
  id: text("What a request names in `model`."),
  kind: text("What it makes.", { enum: ["image", "video"] }),
  name: text("For people."),
  description: text("For people."),
  available: flag("Whether a provider makes it at present; a create is refused where not."),
  modes: list(text(""), { description: "What it does, `text-to-image`." }),
  follow_ups: list(openEnum(FOLLOW_UPS, ""), {
    description: "What it can make of an earlier result: `POST /v1/tasks/{task_id}/extend`, `/upscale`.",
  }),
  always: {
    type: "object",
    description:
      "What holds of everything it makes, by names of fields that its schema does not have, with the values that mean it: `generate_audio: [true]`. A request may have one of these values there. Absent where nothing is said.",
    additionalProperties: { type: "array", items: { type: ["string", "number", "boolean"] } },
  },
  inputs: list(
    closed({
      field: text("A field of the create body that takes media."),
      role: openEnum(INPUT_ROLES, "What the media means to the model."),
      media: text("What it must be.", { enum: MEDIA_KINDS }),
    }),
    { description: "The fields that take images, videos and recordings of sound." },
  ),
  price: PRICE,
  deadline_seconds: integer("How long a task may take from its start.", { minimum: 1 }),
  create_path: text("Where its tasks are created."),
};

const MODEL_SCHEMA: Schema = {
  type: "object",
  description: "JSON Schema (2020-12) of the create body.",
  additionalProperties: true,
};

export const LIST_MODELS = contract("listModels", "Models", "List the models the key may use", {
  query: MODELS_QUERY,
  answers: succeeds(
    "The models.",
    closed({ models: list(component("Model", MODEL_FIELDS, { optional: ["always"] })) }),
  ),
  errors: ["invalid_request"],
});

export const READ_MODEL = contract("readModel", "Models", "Read a model, with the schema of its requests", {
  path: { model: MODEL_ID },
  query: MODELS_QUERY,
  answers: succeeds(
    "The model.",
    component("ModelInFull", { ...MODEL_FIELDS, schema: MODEL_SCHEMA }, { optional: ["always"] }),
  ),
  errors: ["invalid_request", "permission_denied", "model_not_available"],
});

const MANAGED_FIELDS = {
  ...MODEL_FIELDS,
  file: text("The file in the server's data folder that it comes from; absent for one that is built in."),
  routes: list(
    closed(
      {
        provider: text("Id of the provider."),
        upstream_model: text("The provider's name for the model."),
        available: flag("Whether it can be taken."),
        needs: list(text("What an operator must set for it to be taken, `OPENAI_API_KEY`.")),
        modes: list(text(""), { description: "The modes it does; all unless told." }),
        only: {
          type: "object",
          description:
            "What it takes of some fields; the others it takes as the schema has them. False: nothing.",
          additionalProperties: true,
        },
        refused: text(
          "What the provider said when it refused our key, our account or the model, where it refuses every account that is switched on. Until it works again.",
        ),
        refused_since: unixSeconds("When that began."),
        shut: flag("Whether `troubles` are all accounts that are switched on; absent where there are none."),
        troubles: list(STANDING_OF_ACCOUNT, {
          description: "The accounts that get none of its tasks at present; absent where there are none.",
        }),
      },
      { optional: ["modes", "only", "refused", "refused_since", "shut", "troubles"] },
    ),
    {
      description:
        "The ways to run it, tried in this order; a request goes to the first that can do it exactly.",
    },
  ),
};

export const LIST_MANAGED_MODELS = contract(
  "listManagedModels",
  "Management",
  "List every model, with its routes",
  {
    answers: succeeds(
      "The models.",
      closed({ models: list(component("ManagedModel", MANAGED_FIELDS, { optional: ["always", "file"] })) }),
    ),
  },
);

export const READ_MANAGED_MODEL: EndpointContract = {
  id: "readManagedModel",
  tag: "Management",
  summary: "Read a model, with its routes and the schema of its requests",
  path: { model: text("Id of a model.") },
  answers: succeeds(
    "The model.",
    component(
      "ManagedModelInFull",
      { ...MANAGED_FIELDS, schema: MODEL_SCHEMA },
      { optional: ["always", "file"] },
    ),
  ),
  errors: ["not_found"],
};
