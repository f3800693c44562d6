import { contract, type EndpointContract, jsonAnswer } from "../../openapi/contract.ts";
import { closed, component, flag, integer, list, nullable, type Schema, text } from "../../wire/schema.ts";
import { nothing, TAG } from "./wire.ts";

const camel = (path: string) => path.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
const pascal = (path: string) => camel(`-${path}`);

/** Of an endpoint that lists what can be chosen. */
export function listing(path: string): EndpointContract {
  const { about, answer } = LISTED[path] ?? NONE;
  return contract(`automatic1111List${pascal(path)}`, TAG, `List ${path.replaceAll("-", " ")}`, {
    description: about,
    answers: { 200: jsonAnswer("In that server's form.", answer) },
  });
}

interface Listed {
  readonly about: string;
  readonly answer: Schema;
}

const empty: Schema = { type: "array", maxItems: 0 };
const NONE: Listed = { about: "There are none: models have no such files here.", answer: empty };
const nobody = closed({});
const BY_KEY = "Those of the key's model, or one that leaves it to the model.";

const LISTED: Readonly<Record<string, Listed>> = {
  "sd-models": {
    about: "Image models and their aliases, by their ids.",
    answer: list(
      component("Automatic1111Model", {
        ...{ title: text(""), model_name: text("The same."), filename: text("The same.") },
        ...{ hash: nothing, sha256: nothing, config: nothing },
      }),
    ),
  },
  samplers: {
    about: BY_KEY,
    answer: list(closed({ name: text(""), aliases: list(text("")), options: nobody })),
  },
  schedulers: {
    about: BY_KEY,
    answer: list(
      closed({
        ...{ name: text(""), label: text(""), aliases: nothing },
        ...{ default_rho: integer(""), need_inner_model: flag("") },
      }),
    ),
  },
  upscalers: {
    about: "`None`, and the models that make pictures larger.",
    answer: list(
      closed({
        ...{ name: text(""), model_name: nothing, model_path: nothing, model_url: nothing },
        scale: nullable(integer("")),
      }),
    ),
  },
  embeddings: { ...NONE, answer: closed({ loaded: nobody, skipped: nobody }) },
  scripts: { ...NONE, answer: closed({ txt2img: empty, img2img: empty }) },
  "cmd-flags": { about: "That it has an API.", answer: closed({ api: flag(""), api_auth: nothing }) },
  memory: {
    about: "Nothing is told of it.",
    answer: closed({ ram: closed({ error: text("") }), cuda: closed({ error: text("") }) }),
  },
};

export function refreshing(path: string): EndpointContract {
  return contract(`automatic1111${pascal(path)}`, TAG, `Look for new files (${path})`, {
    description: "Does nothing: the lists are always as things stand.",
    answers: { 200: jsonAnswer("Done.", nothing) },
  });
}
