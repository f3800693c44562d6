import { PRICE_UNITS, UNITS } from "../../domain/money/price-units.ts";
import type { EndpointContract, Schema } from "../openapi/contract.ts";
import { jsonAnswer } from "../wire/answer.ts";
import { amount, CURRENCY_SCHEMA, closed, envelope, integer, list, openEnum, text } from "../wire/schema.ts";

export const MODEL_ID = text("Id of a model, or an alias of one.");

/** What every line of a price is charged times. */
export const MULTIPLIER: Schema = text("What every line is charged times for this API key; 1 where absent.", {
  pattern: "^[0-9]+(\\.[0-9]{1,6})?$",
  examples: ["1.25"],
});

/** Units that one amount of a line buys. */
export const PER: Schema = integer("Units that one such amount is for; 1 where absent.", { minimum: 1 });

const PRICE_LINE = closed(
  {
    sku: text("What is sold."),
    unit: openEnum(
      PRICE_UNITS,
      `What is counted: ${Object.values(UNITS)
        .map(({ counts }) => counts)
        .join(", ")}.`,
    ),
    amount: amount("Price of one unit, or of `per` units."),
    per: PER,
    most: integer(
      "Units of an output that are held where the request does not tell; charged is what it has.",
      {
        minimum: 1,
      },
    ),
    when: {
      type: "object",
      description:
        "The parameters a request must have for this line to apply; of a list, any. A request is charged for every line that applies.",
      additionalProperties: true,
    },
  },
  { optional: ["per", "most", "when"] },
);

const PRICE = closed(
  {
    currency: CURRENCY_SCHEMA,
    version: text("Changes with the prices; a task keeps those it was accepted with."),
    lines: list(PRICE_LINE),
    minimum: amount("The least a task costs that delivers anything."),
    multiplier: MULTIPLIER,
  },
  { optional: ["minimum", "multiplier"] },
);

const FIELDS: Readonly<Record<string, Schema>> = {
  id: text("What a request names in `model`."),
  kind: text("What it makes.", { enum: ["image", "video"] }),
  name: text("For people."),
  description: text("For people."),
  modes: list(text(""), { description: "What it does, `text-to-image`." }),
  price: PRICE,
  deadline_seconds: integer("How long a task may take from its start.", { minimum: 1 }),
  create_path: text("Where its tasks are created."),
};

export const LIST_MODELS: EndpointContract = {
  id: "listModels",
  tag: "Models",
  summary: "List the models the key may use",
  answers: {
    200: jsonAnswer("The models.", envelope(closed({ models: list({ title: "Model", ...closed(FIELDS) }) }))),
  },
};

export const READ_MODEL: EndpointContract = {
  id: "readModel",
  tag: "Models",
  summary: "Read a model, with the schema of its requests",
  path: { model: MODEL_ID },
  answers: {
    200: jsonAnswer(
      "The model.",
      envelope({
        title: "ModelInFull",
        ...closed({
          ...FIELDS,
          schema: {
            type: "object",
            description: "JSON Schema (2020-12) of the create body.",
            additionalProperties: true,
          },
        }),
      }),
    ),
  },
  errors: ["permission_denied", "model_not_available"],
};
