import { closed, component, flag, integer, list, openEnum, type Schema, text } from "../../../wire/schema.ts";
import { open } from "../schemas.ts";

/* Bodies and answers of that API's interactions, as far as they are read and written here. */

const CONTENT = open({
  type: text("`text`, `image` or `video`."),
  text: text("What to make."),
  data: text("Content of a file in base64."),
  mime_type: text("Its media type."),
  uri: text("In place of the content: a URL, or the `uri` of a file of this account."),
});

const STEP = open({
  type: text("`user_input` or `model_output`; `thought` is passed over."),
  role: text("In place of the type: `user` or `model`."),
  content: {
    description: "A text, or texts and files.",
    anyOf: [{ type: "string" }, CONTENT, list(CONTENT)],
  },
});

const FORMAT = open({
  type: text("`image` or `video`: what the model makes."),
  aspect_ratio: text("Width to height.", { examples: ["16:9"] }),
  image_size: text("Of a picture: side of a square of as many pixels.", { examples: ["2K"] }),
  resolution: text("Of a video: pixels of the shorter side.", { examples: ["720p"] }),
  duration: text("Of a video.", { examples: ["8s"] }),
  mime_type: text("Of a picture."),
  delivery: text("Of pictures that are waited for: `inline`, as is usual, or `uri`."),
});

export const CREATE_INTERACTION_BODY: Schema = {
  title: "CreateGeminiInteraction",
  examples: [{ model: "sandbox-image", input: "A lighthouse at dusk" }],
  ...open(
    {
      model: text("A model's id or alias, Google's name for it, or `gemini-` and its id."),
      input: {
        description:
          "A text, texts and files, or steps. The last input of the user is the prompt. Its files are used; where it has none, those of the latest step before that has some.",
        anyOf: [{ type: "string" }, CONTENT, list({ anyOf: [STEP, CONTENT, { type: "string" }] })],
      },
      system_instruction: text("Goes before the prompt."),
      previous_interaction_id: text(
        "A task of this account: where the input has no file, the first result of the task is used.",
      ),
      response_format: { description: "One, or one of several.", anyOf: [FORMAT, list(FORMAT)] },
      generation_config: open({
        seed: integer("Where the model has one."),
        image_config: open({
          aspect_ratio: text("As in `response_format`."),
          image_size: text("As in `response_format`."),
        }),
        video_config: open({
          task: text("What pictures are for: `reference_to_video`, or where it begins and ends."),
        }),
      }),
      response_modalities: list({ type: "string" }, { description: "With what the model makes." }),
      background: flag("Whether to answer before the picture is made. Videos always are."),
      stream: flag("Whether to send events while a picture is waited for."),
      store: flag("Without an id in the answer, if false. The task is kept all the same."),
    },
    { required: ["model", "input"] },
  ),
};

const USAGE = closed({
  total_input_tokens: integer("Zero where the provider reports none."),
  total_output_tokens: integer("The same."),
  total_tokens: integer("Their sum."),
});

const ERROR = closed({
  code: text("The code that the task has here."),
  message: text("For people, safe to show."),
});

const MADE = closed(
  {
    type: text("What it is.", { enum: ["image", "video", "audio"] }),
    mime_type: text("Its media type."),
    uri: text("Read it with the key."),
    data: text("Its content in base64."),
  },
  { optional: ["uri", "data"] },
);

const HEAD = {
  id: text("Id of the task."),
  object: text("", { const: "interaction" }),
  model: text("Id of the model."),
  status: openEnum(["in_progress", "completed", "failed", "cancelled"], "How the task stands."),
  created: text("When the task was accepted."),
  updated: text("When it ended, or the same."),
  errors: list(ERROR, { description: "Why there is nothing, or less than was asked for." }),
  usage: USAGE,
};

export const INTERACTION = component(
  "GeminiInteraction",
  {
    ...HEAD,
    steps: list(closed({ type: text("", { const: "model_output" }), content: list(MADE) }), {
      description: "One with what was made, or none.",
    }),
  },
  { optional: ["id", "errors", "usage"] },
);

const event = (name: string, fields: Record<string, Schema>) =>
  closed({ ...fields, event_type: text("", { const: name }) });
const INDEX = { index: integer("", { const: 0 }) };
const OF_INTERACTION = {
  interaction: closed(HEAD, { optional: ["created", "updated", "errors", "usage"] }),
};

/** The events of a stream, by their names. */
export const INTERACTION_EVENTS = {
  "interaction.created": event("interaction.created", OF_INTERACTION),
  "interaction.status_update": event("interaction.status_update", {
    interaction_id: text("Id of the task."),
    status: text("", { const: "in_progress" }),
  }),
  "step.start": event("step.start", {
    ...INDEX,
    step: closed({ type: text("", { const: "model_output" }) }),
  }),
  "step.delta": event("step.delta", { ...INDEX, delta: MADE }),
  "step.stop": event("step.stop", INDEX),
  "interaction.completed": event("interaction.completed", OF_INTERACTION),
  error: event("error", { error: ERROR }),
  done: text("", { const: "[DONE]" }),
};
