import type { Operation, Schema } from "../openapi/operation.ts";
import { jsonAnswer } from "./answer.ts";
import { amount, CURRENCY_SCHEMA, closed, envelope, integer, list, openEnum, text } from "./schema.ts";

export const MODEL_ID = text("Id of a model, or an alias of one.");

const PRICE = closed({
  currency: CURRENCY_SCHEMA,
  version: text("Changes with the prices; a task keeps those it was accepted with."),
  lines: list(
    closed(
      {
        sku: text("What is sold."),
        unit: openEnum(
          ["output", "second"],
          "What one amount buys: an image or a video, or a second of one.",
        ),
        amount: amount("Price of one unit."),
        when: {
          type: "object",
          description: "The parameters a request must have for this line to apply.",
          additionalProperties: true,
        },
      },
      { optional: ["when"] },
    ),
  ),
});

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

export const LIST_MODELS: Operation = {
  id: "listModels",
  tag: "Models",
  summary: "List the models the key may use",
  answers: {
    200: jsonAnswer("The models.", envelope(closed({ models: list({ title: "Model", ...closed(FIELDS) }) }))),
  },
};

export const READ_MODEL: Operation = {
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
