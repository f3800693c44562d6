import type { JsonObject } from "../../../domain/json.ts";

/** Of one picture. */
export interface PictureFacts {
  readonly prompt: string;
  readonly negativePrompt: string;
  readonly width: number;
  readonly height: number;
  readonly model: string;
  /** What its model was asked for, by that API's names. */
  readonly taken: JsonObject;
}

/** What that server calls them in texts, in its order. */
const TITLES = {
  steps: "Steps",
  sampler_name: "Sampler",
  scheduler: "Schedule type",
  cfg_scale: "CFG scale",
  distilled_cfg_scale: "Distilled CFG Scale",
  seed: "Seed",
} as const;

/** What a picture was made of, as that server writes it into the picture and its tools read it. Tells what the model was asked for alone. */
export function infotextOf({ prompt, negativePrompt, width, height, model, taken }: PictureFacts): string {
  const told = Object.entries(TITLES).flatMap(([name, title]) =>
    taken[name] === undefined ? [] : [[title, String(taken[name])] as const],
  );
  const { denoising_strength: strength, clip_skip: skip } = taken;
  const parameters = [
    ...told,
    ["Size", `${width}x${height}`] as const,
    ["Model", model] as const,
    ...(strength === undefined ? [] : [["Denoising strength", String(strength)] as const]),
    ...(skip === undefined ? [] : [["Clip skip", String(skip)] as const]),
    ["Version", "svc"] as const,
  ];
  const lines = [prompt, ...(negativePrompt === "" ? [] : [`Negative prompt: ${negativePrompt}`])];
  return [...lines, parameters.map(([title, value]) => `${title}: ${quoted(value)}`).join(", ")].join("\n");
}

/** Values with what separates them are written as JSON. */
function quoted(value: string): string {
  return /[,\n:]/.test(value) ? JSON.stringify(value) : value;
}

/** A name is read from its beginning only: from every place in a long one, it would take hours. */
const PARAMETER = /(?<![\w ])([\w ]+):\s*("(?:\\.|[^\\"])+"|[^,]*)(?:,|$)/g;

/** A longer line is none of parameters. The longest name all of a prompt's parts; a value of a hundred thousand takes the runtime a second. */
const LONGEST_LINE = 32 * 1024;

/** The parts of such a text, by that server's names for them. */
export function readInfotext(text: string): JsonObject {
  if (text.trim() === "") return {};
  const lines = text.trim().split("\n");
  const last = lines.at(-1) ?? "";
  const pairs = last.length > LONGEST_LINE ? [] : [...last.matchAll(PARAMETER)];
  // Fewer are a line of the prompt.
  const isParameters = pairs.length >= 3;
  const words = isParameters ? lines.slice(0, -1) : lines;
  const from = words.findIndex((line) => line.startsWith("Negative prompt:"));
  const [positive, negative] = from === -1 ? [words, []] : [words.slice(0, from), words.slice(from)];
  return {
    Prompt: positive.join("\n").trim(),
    "Negative prompt": negative
      .join("\n")
      .replace(/^Negative prompt:/, "")
      .trim(),
    ...Object.fromEntries(
      (isParameters ? pairs : []).map(([, name = "", value = ""]) => [name.trim(), unquoted(value.trim())]),
    ),
  };
}

function unquoted(value: string): string {
  if (!value.startsWith('"')) return value;
  try {
    return String(JSON.parse(value));
  } catch {
    return value;
  }
}
