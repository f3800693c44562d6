import { isJsonObject, type JsonObject, propertyOf } from "../../src/domain/json.ts";
import { quoted } from "../again.ts";
import type { ModelView } from "../client/model.ts";
import { printable } from "./printable.ts";

/** Prompts that suit what models do, and files that a reader has, or replaces. */
const PROMPTS = { image: "a lighthouse at dusk", video: "waves at dusk", edit: "make it winter" } as const;
const FILES: Readonly<Record<string, string>> = { image: "photo.png", video: "clip.mp4" };

/** A command that makes something with a model: the shortest there is for it. */
export function exampleFor(model: ModelView): string {
  const { kind, modes } = model;
  // Ids and names come from the server, and the command is there to be pasted.
  const id = quoted(printable(model.id));
  if (modes.includes(`text-to-${kind}`)) return `svc ${kind} "${PROMPTS[kind]}" -m ${id}`;
  if (modes.includes("image-to-image")) return `svc edit photo.png "${PROMPTS.edit}" -m ${id}`;
  const fields = requiredFields(model).map((field) => `-i ${quoted(printable(field))}`);
  const prompt = hasPrompt(model) ? [`-p "${PROMPTS[kind]}"`] : [];
  return ["svc task submit", `-m ${id}`, ...prompt, ...fields, "-o ."].join(" ");
}

function requiredFields({ inputs, schema: given }: ModelView): string[] {
  const schema = isJsonObject(given) ? given : {};
  const { required } = schema;
  const names = (Array.isArray(required) ? required : []).map(String);
  return names
    .filter((name) => name !== "model" && name !== "prompt")
    .map((name) => {
      const media = inputs.find(({ field }) => field === name)?.media;
      return media === undefined
        ? `${name}=${firstValue(propertyOf(schema, name))}`
        : `${name}=@${FILES[media]}`;
    });
}

/** A value that the schema allows, as far as it tells one. */
function firstValue(property: JsonObject | undefined): string {
  const { enum: choices, default: preset, examples, minimum } = property ?? {};
  const [choice] = Array.isArray(choices) ? choices : Array.isArray(examples) ? examples : [];
  return String(preset ?? choice ?? minimum ?? "…");
}

function hasPrompt({ schema }: ModelView): boolean {
  return isJsonObject(schema) && propertyOf(schema, "prompt") !== undefined;
}
